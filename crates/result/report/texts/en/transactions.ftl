# Requests and their responses.

measurement-transactions = transactions, { $name }
transactions-heading = Transactions (requests and responses)
transactions-caption = A transaction is a request and its whole response; with new connections, from the beginning of its own. By a schedule, response times count from the time at which the request was to be sent. Times in µs, medians over the trials; the maximum is that of all trials. Failed transactions are in the sample, as over the timeout.
col-server = Server
col-transactions = Transactions/s
col-transactions-range = Range over trials
col-connections = Connections/s
col-failed = Failed
col-failure = Failed by
col-count = Count
transaction-sizes = { $request }/{ $response } B
http-server-own = wireproof’s server
http-server-nginx = nginx
new-connections =
    { $count ->
        [one] 1 new connection
       *[other] { $count } new connections
    }
headline-transactions = { $name }: { $median } ({ $spread }), response time p50 { $p50 }, p99 { $p99 }, { $failed } failed.
failures-caption = Failed transactions: sums over all trials. The share is that of all transactions of the configuration, failed ones included.
cost-caption = Packets and time of cores. Packets are those of the client’s interface (kernel counters), each way; with segmentation offload, one may hold several frames. CPU time is that of the cores that the client and the server are pinned to, with all that the kernel does there; a program that spins uses all of it.
col-packets-sent = Packets sent
col-packets-received = Packets received
col-packets-each = Packets per transaction, sent / received
col-client-cpu = Client CPU per transaction (µs)
col-server-cpu = Server CPU per transaction (µs)
figure-responses = Distribution of response times
figure-responses-note = All trials of a configuration together, as far as the sample supports it. Each step to the right is ten times rarer.
figure-transactions-repeats = Transactions a second from repeat to repeat
axis-response = Response time (µs)
axis-response-percentile = Percentile of transactions
axis-transactions = Transactions (1000/s)
method-transactions-heading = Transactions
method-transactions = One end is the client, the other the server. The client keeps a number of connections open, or opens a new one for each transaction. A transaction ends when its whole response is there. The counted time begins when all connections are open and the warm-up is over.
method-transactions-closed = Closed loop: on each connection the next request leaves when the response is there. A slow server gets fewer requests, so response times at a given load are not shown by this.
method-transactions-open = Open loop: requests leave by an absolute schedule, whether earlier responses are there or not. Response times count from the scheduled time, so a server that stops delays everything that was due meanwhile, and that is in the sample (no coordinated omission).
method-transactions-failed = Transactions that fail are counted by kind, and stand in the sample of response times as longer than the timeout.
method-transactions-item = { $traffic }: { $duration } after { $warmup } of warm-up, timeout { $timeout }.
term-transaction = Transaction
term-transaction-meaning = A request and its whole response. rr: on a connection that stays open (netperf’s TCP_RR, UDP_RR). crr: a connection for each (TCP_CRR). HTTP: one GET. 1 ktps are 1,000 transactions a second.
term-response = Response time p50, p99, p99.9
term-response-meaning = Half of the responses took no longer than p50 (the median), 99 % no longer than p99. A percentile is shown only when at least ten transactions lie beyond it.
term-loops = Closed loop, open loop
term-loops-meaning = In a closed loop the next request waits for the response. In an open loop requests leave by a schedule, as those of many independent users do.
