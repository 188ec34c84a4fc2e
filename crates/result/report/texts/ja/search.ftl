# 最大負荷の探索。キーは en/ と同じ。

search-heading = 最大負荷の探索
search-caption = 各目標を満たす最大負荷(RFC 9971 の分類による)。真の値は下限と上限の間にあります。下限の試行は目標を満たし、上限の試行は満たしません。条件付きスループットは下限の負荷で見込めるレートで、超過の割合で除かれない全長の試行のうち、損失が最も大きいものの値です。
search-regular = 通常
search-beyond-tester = { $verdict }: 装置を挟まない試験装置だけでもこれ以上に達しないため、装置の限界はこれより高い可能性があります
search-other-repeats = 2回目以降の繰り返しでの探索の経過
search-line = { $traffic }、目標 { $goal }: 最大負荷は { $lower } と { $upper } の間、条件付きスループットは { $throughput }。
search-line-irregular = { $traffic }、目標 { $goal }: { $why }
col-search-repeat = 繰り返し
col-search-goal = 目標
col-search-lower = 下限
col-search-upper = 上限
col-search-width = 差
col-search-throughput = 条件付きスループット
col-search-tester = 試験装置のみ
figure-search = 探索の経過: { $traffic }({ $repeat }回目)
figure-search-note = 探索で測定した順に並べた各試行の負荷。横線は各目標の下限と上限です。
axis-search-trial = 試行
axis-search-load = 要求した負荷 ({ $unit })
legend-search-kept = 損失がすべての目標の範囲内
legend-search-between = 損失が一部の目標の範囲内
legend-search-lost = 損失がすべての目標を超過
legend-search-invalid = 送信側が負荷に達しなかったため除外
legend-search-goal = { $goal }: 下限 { $lower }、上限 { $upper }
