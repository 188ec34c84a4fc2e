//! Compares trials with limits: PASS, FAIL, INCONCLUSIVE, NOT RUN.
