# 負荷時の遅延。キーは en/ と同じ。

bufferbloat-grade = 負荷時の遅延(バッファブロート): 評価 { $grade }
bufferbloat-good = 経路が飽和していても応答は速いままです。往復遅延の変化は最大 { $increase } ms です。
bufferbloat-fair = 経路が飽和すると往復遅延が最大 { $increase } ms 増えます。通話やゲームに影響が出ることがあります。ボトルネックのキューを短くする(fq_codel、cake)と改善します。
bufferbloat-bad = 経路が飽和すると往復遅延が最大 { $increase } ms 増えます。ボトルネックのキューが深すぎます。キューを短くする(fq_codel、cake)と改善します。
bufferbloat-caption = 無負荷時と TCP 負荷時の RTT の中央値({ $traffic })。評価は最大の増加分に対するもので、DSLReports と Waveform の基準によります(5 ms 未満 A+、30 ms 未満 A、60 ms 未満 B、200 ms 未満 C、400 ms 未満 D、それ以外 F)。
bufferbloat-line = { $grade }。無負荷 { $idle } ms、TCP 負荷 { $loads }。
bufferbloat-load = { $direction }: { $rtt } ms({ $increase })
bufferbloat-idle = なし
col-tcp-load = TCP 負荷
col-loaded-rtt = RTT p50 (ms)
col-increase = 増加分 (ms)
col-load-goodput = 負荷の実効スループット
beside-tcp = TCP 負荷 { $direction }
method-tcp-load = メッセージと並行して、各方向4本の TCP 接続ができるだけ速く送信します。最初のメッセージの3秒前に送信を始め、最後のメッセージの後に終えます。実効スループットは同じ時間について数えます。メッセージの往復遅延には、キューでの待ち時間が現れます。
load-caption = メッセージと並行した TCP 通信の方向ごとの実効スループットと再送セグメント数(試行間の中央値)。
load-heading = 並行して印加した負荷
col-load-way = 方向
col-load-retransmits = 再送セグメント
