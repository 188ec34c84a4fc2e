# 図の文言。キーは en/ と同じ。

legend-goodput = { $name }: 平均 { $mean }、最速 { $max }、最遅 { $min } { $unit }(n = { $n } 秒)
figure-cores = コアごとのCPU使用率
figure-cores-note = 実効スループットの計測中に各コアが行った処理(時間の百分率、試行間の中央値)。使われず、割り当てもなかったコアは省いています。
axis-core-time = コア時間 (%)
cpu-user = プログラム(user)
cpu-system = カーネル(system)
cpu-softirq = ソフト割り込み(softirq)
cpu-irq = 割り込み(irq)
cpu-steal = ハイパーバイザーが使用(steal)
cpu-idle = アイドル
core-name = コア { $cpu }
figure-rtt-repeats = 繰り返しごとのRTT p50
figure-goodput-repeats = 繰り返しごとの実効スループット
figure-repeats-note = 点は各試行({ $dots }回まで)。太線は中央値、細線は最小から最大まで。箱は中央の半数(四分位数、{ $box }回から)。軸は0から始まりません。
axis-rtt-p50 = RTT p50 (µs)
figure-bar = { $run } { $value }
