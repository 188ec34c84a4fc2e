# 報告書・進捗・助言の文言。キーは en.ftl と同じ。

## プログラムの進捗と通知

progress-preparing = 試験環境を準備しています
progress-measuring = { $what } を測定しています({ $step }/{ $steps })
progress-undoing = 設定を元に戻しています
progress-report-written = 報告書を { $path } に書き出しました
progress-interrupted = 中断されました。ここまでの測定結果を保存し、報告書を作成します
time-left = 残り約 { $time }
throughput-alias-note = 「スループット」は RFC 1242 ではゼロロス最大転送レートを指します。このコマンドが測定するのは実効スループット(グッドプット)、すなわち iperf3 と同じく受信側に届いたペイロードの量です。
unprivileged-note = root 権限なしで、専用のユーザー名前空間の中で実行しています。root 権限(sudo)があれば、試験環境を常設し(bed up)、その中でほかのプログラムも実行できます。

## 信頼性に関する注意: 意味と対処

doubt-shared-core = 両端が同じコア { $cpu } で交互に動作したため、測定値には互いの待ち時間が含まれています。2コア以上のマシンを使うか、--cpus CLIENT,SERVER で両端に別々のコアを割り当ててください。
doubt-not-pinned = エンドポイント { $endpoint } をコアに固定できなかったため、測定中にスケジューラーが別のコアへ移した可能性があります。コアがオンラインで、このユーザーに許可されているか(taskset -p、cgroup の cpuset)を確認し、再測定してください。
doubt-steal = ハイパーバイザーがコア時間の最大 { $percent } % を使用したため、遅い往復や遅い区間はほかのゲストの影響かもしれません。ホストの負荷が低いとき、または物理マシンで再測定してください。
doubt-replies-missing = 応答の欠落があります(損失 { $lost }、タイムアウト超過 { $late })。欠落した応答はタイムアウト超過として数えるため、平均と最大は不明です。受信バッファ(nstat -az UdpRcvbufErrors)とインターフェース(ip -s link)での破棄を確認し、再測定してください。
doubt-counters-disagree = 送信側の計数は { $sent } バイト、受信側は { $received } バイトで、バッファでは説明できない差があります。測定値には受信側の計数を用いています。両ホストのインターフェースでの破棄とほかの通信を確認し、再測定してください。
doubt-few-trials = 試行が{ $trials }回では不確かさを示せません({ $needed }回必要)。--set repeats={ $needed } を付けて再測定してください。
doubt-unprivileged = root 権限なしで、専用のユーザー名前空間の中で測定しました。ソケットとカーネルは同じです。root 権限があれば、試験環境を常設し、その中でほかのツールを実行して比較できます。その場合は sudo を付けて再測定してください。
doubt-environment-changed = 測定中にマシンの状態が変わりました({ $what })。測定値には二つの状態が混在している可能性があります。変化の原因を取り除き、再測定してください。
doubt-interrupted = すべての試行が終わる前に測定が中断されたため、試行が少ない、または試行のない構成があります。「測定方法」に示すコマンドで再測定してください。
doubt-data-ended-early = 計測時間が終わる前にデータが途切れたため、末尾が無通信として数えられ、実効スループットが低く出ています。マシンの負荷が高く、両端の歩調が合いませんでした。負荷が低いときに再測定してください。
doubt-other-load = 測定していない間も、コア { $cpu } の { $percent } % がほかの処理に使われていました。測定値にはその待ち時間が含まれています。何が動いているか(top の 1 キー)を確認し、それを止めるか --cpus CLIENT,SERVER で別のコアを選び、再測定してください。
doubt-failed = 測定を続行できませんでした({ $what })。試行が少ない、または試行のない構成があります。原因を取り除き、「測定方法」に示すコマンドで再測定してください。

## 報告書の冒頭

title = ネットワーク検証報告書
label-run = 測定番号
label-started = 開始
label-finished = 終了
label-plan = 測定計画
label-bed = 試験環境
label-program = プログラム
not-finished = 未完了
bed-lab = lab: 1台のマシン内の2つのネットワーク名前空間を veth ペアで接続
simulated = 模擬環境
simulated-meaning = すべての測定値は、1台のマシン内の仮想リンクによるものです。このマシンのカーネルの性能を示すもので、ネットワークカード、ケーブル、スイッチは関与していません。

verdict-heading = 判定
verdict-pass = 合格
verdict-fail = 不合格
verdict-inconclusive = 判定保留
verdict-not-run = 未実施
verdict-none = 判定なし
verdict-line = 判定: { $word }。{ $meaning }
verdict-pass-meaning = 測定計画の判定基準をすべて満たしています(不確かさの区間全体が基準内)。
verdict-fail-meaning = 満たしていない判定基準があります。
verdict-inconclusive-meaning = 満たしていない判定基準はありませんが、判定できないものがあります。不確かさの区間が基準値をまたいでいるか、区間を求めるには試行が不足しています。
verdict-not-run-meaning = 満たしていない判定基準はありませんが、対象となる試行のないものがあります。
verdict-none-meaning = 測定計画に判定基準がないため、合否の判定は行っていません。
partial = 一部のみ
partial-meaning = 計画した{ $planned }回の試行のうち{ $done }回を測定しました。

## 要約

summary-heading = 要約
headline-latency = { $traffic }、フレーム長 { $frame } B: 往復遅延時間(RTT)の中央値 { $p50 }({ $spread })。
headline-latency-tail = { $traffic }、フレーム長 { $frame } B: 往復遅延時間(RTT)の中央値 { $p50 }({ $spread })、99パーセンタイル { $p99 }。
headline-goodput = { $traffic }: 実効スループット { $median }({ $spread })。
headline-spread = 試行間 { $low }〜{ $high }
headline-one-trial = 1試行のみ
headline-none = 測定値はありません。

doubts-heading = 信頼性に関する注意
doubts-none = 該当する事項はありません。
doubts-trials = 該当する試行: { $trials }
doubts-run = 測定全体に該当

limits-heading = 判定基準
limits-caption = 測定計画の各判定基準。試行間の中央値とその不確かさの区間で判定しています。
limit-at-most = { $value } 以下
limit-at-least = { $value } 以上
metric-rtt-min = RTT 最小
metric-rtt-mean = RTT 平均
metric-rtt-p50 = RTT p50
metric-rtt-p90 = RTT p90
metric-rtt-p99 = RTT p99
metric-rtt-p999 = RTT p99.9
metric-rtt-max = RTT 最大
metric-goodput-mean = 実効スループット 平均
metric-goodput-min = 実効スループット 最も遅い1秒間

## 構成と測定方法

topology-heading = 構成
topology-caption = 試験環境: 2つのエンドポイントとその間のリンク
endpoint = エンドポイント { $name }
endpoint-namespace = 名前空間
endpoint-interface = インターフェース
endpoint-driver = ドライバー
endpoint-addresses = アドレス
endpoint-cpu = 固定先のコア
not-pinned = 固定なし
link-veth = veth ペア
link-veth-meaning = 2つのエンドポイントを結ぶ仮想ケーブル

method-heading = 測定方法
method-repeats = 測定計画では、以下の測定項目を1巡につき1試行ずつ、{ $count }巡行います。巡回するのは、マシンの速度が徐々に変化しても、すべての項目が等しく影響を受けるようにするためです。
method-latency-heading = 往復遅延時間(RTT)
method-latency = 一方のエンドポイントがメッセージを送り、他方が同じものを直ちに返し、それを受け取ってから次を送ります(ピンポン)。各往復は送信側の1つの時計で測ります。対象となる往復はすべて標本に含め、損失した応答と遅れた応答はタイムアウト超過として数えます。各試行の最初の往復はウォームアップとして除いています。
method-latency-item = { $traffic }: フレーム長 { $frames } B のそれぞれについて、ウォームアップ{ $warmup }往復の後、{ $count }往復を計測。タイムアウト { $timeout }。
method-goodput-heading = 実効スループット(グッドプット)
method-goodput = 一方のエンドポイントができるだけ速く送信し、届いたペイロードを受信側で1秒ごとに数えます。送信側の計数も併記します。最初に送るウォームアップ分は除いています。
method-goodput-item = { $traffic }: ウォームアップ { $warmup } の後、{ $duration } を計測。
method-clock = 時計の読み取りにかかる時間は { $cost } ns(試行の中央値)で、各往復には2回分が含まれます。
method-command = 次のコマンドでこの測定を繰り返せます:

## 測定結果

traffic = { $protocol } { $ip }・{ $how }
configuration = { $traffic }・{ $frame } B

results-heading = 測定結果
latency-heading = 往復遅延時間(RTT)
latency-caption = RTT(単位 µs)。各値は試行間の中央値で、最小と最大のみ全試行を通した値です。標本から求められない値は「–」としています。
col-traffic = 通信
col-frame = フレーム長 (B)
col-payload = ペイロード (B)
col-trials = 試行数
col-min = 最小
col-max = 最大
col-spread = p50の範囲 (試行間)
col-interval-p50 = p50の不確かさ (95 %区間)
col-lost = 損失 / 遅着 / 順序逆転
col-half = p50の RTT÷2 (片道換算値、 sockperf相当)
mode-spin = スピン待ち
mode-block = ブロック待ち
streams = { $count }ストリーム

figure-sizes = フレーム長とRTT
figure-sizes-note = 実線はp50で、縦棒は試行間の最小から最大まで。破線(中抜き)はp99。
figure-distribution = RTTの分布
figure-distribution-note = 各構成の最小フレーム長について、全試行を合わせた分布(標本から求められる範囲)。右へ1目盛り進むごとに頻度は10分の1になります。
figure-goodput = 実効スループットの時間変化
figure-goodput-note = 線は試行ごと。色と印はストリーム数を表します。
figure-range = { $name }: { $low }〜{ $high }
axis-rtt = RTT (µs)
axis-frame = フレーム長 (B)
axis-percentile = 往復のパーセンタイル
axis-goodput = 実効スループット ({ $unit })
axis-seconds = 時間 (秒)

goodput-heading = 実効スループット(グッドプット)
goodput-caption = 実効スループット(単位 { $unit }、10進)。受信側で数えたペイロードの値です。平均・送信・再送は試行間の中央値、最も速い/遅い1秒間は全試行を通した値です。
goodput-lab-note = veth ペアでは、MTU によらず最大 64 KiB のセグメントがまとめて渡されます(セグメンテーションオフロード)。したがって、実際の回線のフレーム長での値ではありません。損失がないのに再送があるのは、両方のコアが1つの接続で送信するため順序が入れ替わり、TCP がそれを損失とみなすからです。
col-streams = ストリーム数
col-mean = 平均
col-mean-spread = 平均の範囲 (試行間)
col-range = 範囲 (試行間)
col-interval-mean = 平均の不確かさ (95 %区間)
col-fastest = 最も速い 1秒間
col-slowest = 最も遅い 1秒間
col-sent = 送信 (送信側の計数)
col-retransmits = 再送
col-busiest = 最も使用率の 高いコア
busiest-core = コア { $cpu }: { $busy } %

cpu-heading = CPU使用率
cpu-caption = 実効スループット計測中の各コアの使用率(時間に対する %、試行間の中央値)。1 %未満のコアは省いています。
col-core = コア
col-role = 役割
col-busy = 使用率
col-softirq = うち ソフト割り込み
col-steal = うち ハイパーバイザー による占有
role-sender = 送信側
role-receiver = 受信側
role-both = 送信側と受信側

limited-heading = 制限要因
limited-caption = 各測定値を決めた箇所(カウンターから判明したもの)。判明しない場合は推測しません。
col-configuration = 構成
col-limited = 制限要因
col-trial-numbers = 試行番号
col-evidence = 根拠
not-known = 不明
col-figure = 指標
col-limit = 判定基準
col-median = 中央値
col-interval = 不確かさ(区間)
col-verdict = 判定

## 環境

environment-heading = マシンと設定
environment-caption = マシン { $host }(最初の試行の前に取得)
environment-same = 最後の試行の後に再度取得し、差異はありませんでした。
environment-unread = 測定が完了しなかったため、最後の試行の後の取得は行っていません。
environment-changed = 最後の試行の後の差異:
fact-os = オペレーティングシステム
fact-kernel = カーネル
fact-command-line = カーネルコマンドライン
fact-architecture = アーキテクチャー
fact-product = 製品
fact-hypervisor = ハイパーバイザー
fact-cpu = プロセッサー
fact-microcode = マイクロコード
fact-cpus = オンラインのコア数
fact-isolated = 分離されたコア
fact-numa = NUMAノード数
fact-memory = メモリ
fact-clock = クロックソース
fact-governor = 周波数ガバナー
none = なし
endpoint-facts-caption = 各エンドポイントの名前空間内から見たインターフェース
col-endpoint = エンドポイント
col-state = 状態
col-speed = 速度
settings-caption = マシンのカーネル設定
settings-endpoint-caption = エンドポイント { $name } のカーネル設定
mitigations-caption = プロセッサーの脆弱性と緩和策

## 読み方

glossary-heading = この報告書の読み方
term-rtt = 往復遅延時間(RTT)
term-rtt-meaning = メッセージを送信ソケットに渡してから応答を受け取るまでの時間。両端のプログラムとカーネル、リンクを2回ずつ通る時間を含みます。
term-percentile = p50、p99、p99.9
term-percentile-meaning = 往復の半数はp50(中央値)以内、99 %はp99以内に完了しています。それを超える往復が10回以上ある場合に限り表示します。
term-half = RTT÷2(片道換算値)
term-half-meaning = RTTの半分の値で、この値を表示するツールと比較するためのものです。片道の遅延を測定した値ではありません。
term-goodput = 実効スループット(グッドプット)
term-goodput-meaning = 1秒あたりに届いたペイロードの量で、ヘッダーは含みません。1 Gbit/s は 1,000,000,000 bit/s です。
term-frame = フレーム長
term-frame-meaning = RFC 2544 と同じく、FCS を含むイーサネットフレーム全体の長さ。プリアンブルとフレーム間隔は含みません。
term-mode = スピン待ち、ブロック待ち
term-mode-meaning = 両端のプログラムがメッセージを待つ方法。前者(spin)はソケットを休みなく確認し、後者(block)はカーネルに起こされるまで休止します。
term-interval = 不確かさ
term-interval-meaning = 真の中央値が95 %以上の信頼度で含まれる区間。試行の順序統計量から求め、6回以上の試行が必要です。
statement = 本報告書の結果は、測定時の状態における試験対象にのみ関するものです。wireproof は校正された計測器ではありません。

# What a machine or user may lack
lack-costs = 影響
lack-remedy = 対処
lack-store-costs = 試行を保存できないため、測定できません
lack-store-remedy = --store PATH で別の保存先を指定してください
lack-root-costs = 常設の試験環境(bed up)には root 権限が必要です。模擬環境での測定は可能です
lack-root-remedy = 必要な場合は sudo を使ってください
lack-namespaces-costs = 試験環境を作成できません
lack-namespaces-remedy = sudo を使うか、管理者にユーザー名前空間の許可を依頼してください
lack-cores-costs = 両端が1つのコアを交互に使うため、遅延はスケジューラーの値になります
lack-cores-remedy = このマシンまたはこのプロセス(taskset)に2つ以上のコアを割り当ててください
lack-ipv6-costs = ip = 6 のプランは測定できません
lack-ipv6-remedy = IPv6 に対応したカーネルを、コマンドラインに ipv6.disable=1 を付けずに起動してください
lack-clock-costs = 往復遅延時間には時計の読み取り2回分が含まれます
lack-clock-remedy = プロセッサーの TSC が安定している場合は、クロックソース tsc を使ってください
lack-metal-costs = ホストがコアを一時的に奪うため、一部の往復が数ミリ秒になることがあります
lack-metal-remedy = 中央値で判断し、同じマシンの測定どうしだけを比較してください
lack-lab-costs = 実機の NIC がなければ測定できません
lack-lab-remedy = カーネルにネットワーク名前空間と veth(CONFIG_NET_NS、CONFIG_VETH)が必要です
