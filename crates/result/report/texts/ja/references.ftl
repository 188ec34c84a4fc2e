## 他者による測定値

limit-by-reference = { $bound }({ $reference } との差 { $within } 以内)
limit-not-comparable = { $reference } との差 { $within } 以内: 比較不可({ $why })
limit-differs = { $reference } とは条件が異なります。{ $name }: { $conditions }。

world-simulated = 模擬環境
world-hardware = 実機
condition-unknown = 未設定または不明
condition-differs = { $name }は本測定 { $ours }、比較対象 { $theirs }
condition-simulated = 環境
condition-stack = ネットワークスタック
condition-payload = ペイロード長
condition-link-rate = リンク速度
condition-mode = 待ち方
condition-direction = 方向
condition-streams = ストリーム数
condition-duration = 測定時間
condition-window = ソケットバッファー
condition-offered = 印加負荷

why-better-figure = 同じ出典に、より条件の近い値があるため
why-unknown = 本測定の全試行についてこの値({ $statistic })が得られていないため
why-statistic = 出典の統計量が異なるため({ $theirs })
why-frame-size = フレーム長 { $theirs } バイトの試行がないため
why-load = { $theirs } の試行がないため
why-ping-pong = 出典は往復ごとの送信、本測定は一定間隔の送信であるため
why-traffic = { $theirs } による該当の試行がないため
why-metric = 同種の測定を行っていないため({ $theirs })
why-tx-and-rx = 出典が各パケットを送信と受信で二重に数えているため
why-simulated = 本測定は模擬環境、出典は実機での測定であるため
why-hardware = 本測定は実機、出典は実回線を通らない測定であるため
why-nothing-measured = 測定値がないため
why-no-reference = この名前の比較対象がないため

published-half-rtt = RTT÷2
published-goodput = 実効スループット
published-packet-rate = パケット処理性能
published-port-rate = ポートのレート
published-offered-load = 負荷生成器の印加負荷
published-monitor = 監視ツールの表示値
published-transfer = ファイル転送
published-core-use = コアの使用率

statistic-min = 最小
statistic-mean = 平均
statistic-max = 最大
statistic-reading = 単一の読み取り値

metric-goodput-max = 実効スループット 最も速い1秒間
