# 図の文言。キーは en/ と同じ。

legend-goodput = { $name }: 平均 { $mean }、最大 { $max }、最小 { $min } { $unit }(n = { $n } 秒)
figure-cores = コアごとのCPU使用率
figure-cores-note = 実効スループットの計測中に各コアが行った処理を、時間に対する割合(%)で示します(試行間の中央値)。使用も割り当てもされなかったコアは省いています。
axis-core-time = コア時間 (%)
cpu-user = プログラム(user)
cpu-system = カーネル(system)
cpu-softirq = ソフト割り込み(softirq)
cpu-irq = 割り込み(irq)
cpu-steal = ハイパーバイザーによる占有(steal)
cpu-idle = アイドル
core-name = コア { $cpu }
core-load = コア { $cpu }: { $percent } %
figure-rtt-repeats = 繰り返しごとのRTT p50
figure-goodput-repeats = 繰り返しごとの実効スループット
figure-repeats-note = 点は各試行({ $dots }回まで)。太線は中央値、細線は最小から最大まで。箱は四分位範囲(試行が{ $box }回以上の場合)。軸は0から始まりません。
axis-rtt-p50 = RTT p50 (µs)
figure-bar = { $run }: { $value }
histogram-missing = 期限内に応答なし
histogram-none = 遅延の測定値がないため、ヒストグラムはありません。
