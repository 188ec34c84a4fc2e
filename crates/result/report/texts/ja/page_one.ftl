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
page-doubt = 最も重要な注意
page-no-doubt = 該当する事項はありません。
page-doubts-more = ほか{ $count }件は「{ $heading }」を参照。
page-limited = 判明した主な制限要因は{ $place }です({ $of }条件中{ $count }条件)。
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
