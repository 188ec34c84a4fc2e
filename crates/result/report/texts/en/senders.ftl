senders-heading = All senders together
senders-caption = What all senders sent at the same time, added up where it arrived: median over the trials, and each end’s share of it.
col-together = Together
col-shares = Shares
