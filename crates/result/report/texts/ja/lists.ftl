# 端末に表示する一覧。キーは en/ と同じ。

list-col-run = 測定番号
list-col-started = 開始
list-col-plan = 測定プラン
list-col-bed = 試験環境
list-col-trials = 試行数
list-col-verdict = 判定
list-col-baseline = 基準の名前
list-col-reference = 参照値
list-col-figures = 値の数
list-col-measured = 測定日
list-col-by = 測定者
list-col-what = 内容
list-runs-none = 保存された測定はありません。「wireproof verify」で測定できます。
list-unreadable = 読み取り不可
list-grade = 評価 { $grade }
list-partial = { $verdict }(一部のみ)
list-baselines-none = 比較の基準は設定されていません。「wireproof baseline set RUN」で設定できます。
list-references-folder = 自分の参照値のファイルは { $folder } に置きます。
list-bed = { $name }: { $what }
list-bed-simulated = { $name }(模擬環境): { $what }
list-bed-end = { $name }: 名前空間 { $namespace }、{ $interface }、MTU { $mtu }、{ $addresses }
list-bed-device = { $name }: 名前空間 { $namespace }
list-bed-hint = --bed { $name } で使い、「wireproof bed down { $name }」で撤去します。
list-beds-none = 常設の試験環境はありません。
list-undone = 元に戻しました: { $change }
list-undone-none = 元に戻すものはありません。
