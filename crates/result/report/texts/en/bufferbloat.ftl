# Latency under load. Each key is in ja/ as well.

bufferbloat-grade = Latency under load (bufferbloat): grade { $grade }
bufferbloat-good = The path stays quick while it is full: the largest change of the round trip is { $increase } ms.
bufferbloat-fair = Round trips take up to { $increase } ms longer while the path is full: calls and games suffer at times. A shorter queue at the bottleneck (fq_codel, cake) helps.
bufferbloat-bad = Round trips take up to { $increase } ms longer while the path is full: the queue at the bottleneck is too deep. A shorter one (fq_codel, cake) helps.
bufferbloat-caption = Median RTT of the idle path and beside TCP ({ $traffic }). The grade is that of the largest increase, by the scale of DSLReports and Waveform: below 5 ms A+, 30 ms A, 60 ms B, 200 ms C, 400 ms D, otherwise F.
bufferbloat-line = { $grade }. Idle: { $idle } ms; beside TCP { $loads }.
bufferbloat-load = { $direction }: { $rtt } ms ({ $increase })
bufferbloat-idle = none
col-tcp-load = TCP load
col-loaded-rtt = RTT p50 (ms)
col-increase = Increase (ms)
col-load-goodput = Goodput of the load
beside-tcp = beside TCP { $direction }
method-tcp-load = Beside the messages four TCP connections each way send as fast as they can. They begin three seconds before the first message and end after the last one; their goodput is counted over the same time. The messages show how long the queues make a packet wait.
load-caption = TCP beside the messages: goodput in each direction and segments sent again, medians over the trials.
load-heading = Load beside the messages
col-load-way = Direction
col-load-retransmits = Segments sent again
