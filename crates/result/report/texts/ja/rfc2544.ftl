# 記録された試行と、RFC 9971 の目標。

classified-goal = { $goal }: 最終試行時間 { $final }、合計 { $sum }、損失率 { $loss }、超過の割合 { $exceed }、幅 { $width }
classified-col-load = 負荷
classified-col-trials = 試行
classified-col-exceed = 損失超過の割合
classified-col-classification = 分類
classification-lower = 下限
classification-upper = 上限
classification-undecided = 未確定
classified-bounds = 有効な下限 { $lower }、有効な上限 { $upper }(差 { $width })
classified-throughput = 条件付きスループット { $throughput }
irregular-no-upper-bound = 例外的な結果: 上限となる負荷がありません。より高い負荷を測定してください。
irregular-no-lower-bound = 例外的な結果: 上限の下に、下限となる負荷がありません。より低い負荷を測定してください。
irregular-no-bounds = 例外的な結果: 分類の決まった負荷がありません。試行を増やすか、長くしてください。
irregular-too-wide = 例外的な結果: 上限と下限の差が幅を超えています。その間の負荷を測定してください。
