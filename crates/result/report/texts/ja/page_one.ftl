# 1ページ目: 判定、主要な測定値、利用前に知っておくべきこと。キーは en/ と同じ。

tally = 合格 { $pass }、不合格 { $fail }、判定できず { $undecided }。
verdict-undecided = { $count }項目は判定できませんでした。理由: { $why }。
undecided-of = { $why }({ $count }項目)
undecided-not-comparable = { $reference } とは比較不可({ $why })
undecided-not-planned = 該当する測定条件が測定プランにないため
undecided-not-measured = 判定に使える測定値がないため
undecided-few-samples = パーセンタイルに必要な標本数に達していないため
undecided-mtu-disproved = { $ip } で MTU { $mtu } のパケットが経路を通らないため
undecided-no-address = { $ip } アドレスのないエンドポイントがあるため
undecided-few-trials = 試行が{ $trials }回で、不確かさの区間に必要な{ $needed }回に満たないため
undecided-straddles = 不確かさの区間が判定基準をまたいでいるため
undecided-not-checked = 確認が行われていないため
undecided-left-open = 確認者が判定を保留したため
key-figures-caption = 主要な測定値(試行間の中央値)。
key-load-missed = (送信側は、最も低い試行でこの負荷の { $percent } %しか達成していません)
page-failed = 不合格の内容
page-failed-figures = 測定値{ $count }件(上の表で「不合格」)
page-failed-figures-some = 測定値{ $count }件(主なものは上の表、全件は「指摘事項」)
page-failed-item = { $item }(人による確認)
page-failed-more = { $last }、ほか{ $count }件(「指摘事項」「測定結果」を参照)
page-todo = 対処
todo-figures = まず、不合格の測定値を制限した箇所を改善してください。{ $places }。その後、「再測定」に示すコマンドで測定し直してください。
todo-place = { $place }: { $remedy }
todo-figures-unknown = 不合格の測定値を何が制限したかは、読み取れた情報からは分かりません。注意事項と「測定結果」を確認して原因を取り除き、「再測定」に示すコマンドで測定し直してください。
todo-checks = 転送する装置の設定を見直し、再度検査してください。フレームの種類ごとの結果は「転送の正しさ」に示します。
todo-items = 人による確認で不合格とした点を是正し、再確認の結果を報告書に反映してください(wireproof report --meta FILE)。再測定は不要です。
todo-not-comparable = 判定するには、参照値と同じ機器と条件で測定するか、測定プランに判定基準の値(at_most、at_least)を設定してください。
todo-not-planned = 判定するには、該当する測定条件を測定プランに追加するか、その判定基準を削除してください。
todo-not-measured = 判定するには、測定値が得られなかった原因(「信頼性に関する注意」を参照)を取り除き、再測定してください。
todo-few-samples = 判定するには、1試行の往復数を増やすか時間を長くして、再測定してください。
todo-mtu-disproved = 判定するには、「経路MTU」に示す機器の MTU を上げ、{ $ip } で { $mtu } B のパケットが通るようにして再測定してください。
todo-no-address = 判定するには、両端に { $ip } アドレスを設定して再測定してください。
todo-few-trials = 判定するには、--set repeats={ $needed } を付けて再測定してください。
todo-straddles = 試行を増やすと不確かさの区間が狭まり、判定できることがあります。--set repeats=N で回数を増やして再測定してください。
todo-not-checked = 未確認の項目を確認し、結果を報告書に反映してください(wireproof report --meta FILE)。再測定は不要です。
todo-left-open = 保留とした項目の合否を決め、結果を報告書に反映してください(wireproof report --meta FILE)。再測定は不要です。
page-doubt = 最も重要な注意
page-doubt-in = { $of }回中{ $count }回の試行: { $words }
page-no-doubt = 該当する事項はありません。
page-doubts-more = ほか{ $count }件は「{ $heading }」を参照。
page-limited = 判明した主な制限要因は{ $place }です({ $of }条件中{ $count }条件)。
page-limited-each = 判明した主な制限要因は{ $place }です({ $of }条件中、各{ $count }条件)。
page-limited-load = 判明した制限要因は、指定した印加負荷のみです({ $of }条件中{ $count }条件)。
page-limited-unknown = 不明(両端のどのカウンターにも現れていません)。
sentences = { $a }{ $b }
list-semicolon = {"、"}

issue = 項目 { $numbers }: { $words }
issue-failed = { $figure }(判定基準: { $criterion }): { $figures }
configurations = { $count }条件
see-results = 「測定結果」を参照
conclusion-heading = 結論
name-count = { $count }往復
name-warmup = ウォームアップ { $amount }
