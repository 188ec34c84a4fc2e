senders-heading = All senders together
sum-of-senders = sum of all senders
slowest-sender = slowest sender
senders-caption = What all senders sent at the same time, added up where it arrived: median over the trials, and each end’s share of it.
col-together = Together
col-shares = Shares
senders-packets-caption = What all senders sent at the same time, added up: what left them, what arrived, and what was lost of it. Rates are medians over the trials, losses their sums.
