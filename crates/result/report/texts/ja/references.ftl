## 他者による測定値

limit-by-reference = { $bound }({ $reference } からの悪化が { $within } 以内)
limit-not-comparable = { $reference } からの悪化が { $within } 以内: 比較不可({ $why })
limit-differs = { $reference } とは条件が異なります。{ $name }: { $conditions }。
issue-differs = { $reference } とは測定条件が異なります: { $conditions }。
verdict-differs = { $reference } による判定は、同出典とは異なる条件での測定に基づいています: { $conditions }。

world-simulated = 模擬環境
world-hardware = 実機
stack-kernel = カーネル
stack-bypass = カーネルバイパス
condition-unknown = 未設定または不明
condition-differs = { $name }(本測定: { $ours }、比較対象: { $theirs })
condition-simulated = 環境
condition-stack = ネットワークスタック
condition-payload = ペイロード長
condition-link-rate = リンク速度
condition-mode = 待機方式
condition-direction = 方向
condition-streams = ストリーム数
condition-duration = 測定時間
condition-window = ソケットバッファ
condition-offered = 印加負荷
condition-flat-out = 制限なし
condition-one-way = 片方向

why-better-figure = 同じ出典に、より条件の近い値があるため
why-unknown = 本測定の全試行についてこの値({ $statistic })が得られていないため
why-statistic = 出典の統計量が異なるため({ $theirs })
why-frame-size = フレーム長 { $theirs } バイトの試行がないため
why-payload-size = メッセージ長 { $theirs } バイトの試行がないため
why-size-not-stated = 出典にフレーム長・メッセージ長の記載がないため
why-load = { $theirs } の試行がないため
why-ping-pong = 出典は往復ごとの送信、本測定は一定間隔の送信であるため
why-traffic = { $theirs } による該当の試行がないため
why-metric = 同種の測定を行っていないため({ $theirs })
why-tx-and-rx = 出典が各パケットを送信と受信で二重に数えているため
why-inside-host = 出典の通信はホストの外に出ておらず、ネットワークの値ではないため
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

metric-goodput-max = 実効スループット 最大(1秒間)

references-heading = 公表値・他社実測値との比較
references-simulated = 本測定は模擬環境によるもので、実機の公表値・他社実測値とは比較できません。「--references all」を指定すると参考として並べて表示します。
references-none = 本測定と比較できる公表値・他社実測値はありません。「--references all」を指定すると、それぞれの理由を表示します。
references-title = { $title }({ $reference })
references-measured = 測定者: { $who }({ $kind })、{ $date }。
references-on = 対象: { $what }。
references-source = 出典: { $source }。
references-unnamed = 記載なし
references-undated = 日付不明
references-caption = 本測定の値は試行間の中央値です。不確かさは95 %信頼区間、試行が不足する場合は試行間の最小〜最大を示します。乖離率は比較対象の値に対する本測定の値の差の割合です。
references-not-compared = 比較できない値:
references-reason = { $count }件: { $why }。
references-notes = 出典に関する注記:
references-line = { $reference } との比較: { $count }件、乖離率 { $low } 〜 { $high }、うち条件の異なるもの { $differing }件
references-line-none = { $reference } との比較: 比較できる値なし
col-ours = 本測定
col-ours-range = 不確かさまたは範囲
col-theirs = 比較対象
col-deviation = 乖離率
col-conditions = 条件
conditions-alike = 明記されている範囲で同一
curve = { $reference }: { $protocol } { $statistic }
curve-other-conditions = { $reference }: { $protocol } { $statistic }(条件は異なる)
measurer-maker = 製造元の公表値
measurer-tester = 検証者による実測値
measurer-somebody = 第三者による実測値
measurer-tool = 他ツールによる測定結果
