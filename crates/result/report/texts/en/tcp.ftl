tcp-seconds-caption = The same connections at the end of each whole second of the counted time: RTT and congestion window from lowest to highest, retransmits over all trials.
col-seconds-resending = Seconds with retransmits
col-seconds-worst = Most in one second
