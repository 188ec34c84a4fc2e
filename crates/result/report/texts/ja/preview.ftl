# 測定プランの実行内容の予告: verify --dry-run

preview-set-up = このマシンに次のものを設定し、終了時に元へ戻します:
preview-stands = 新たに設定するものはありません(試験環境「{ $bed }」は構築済みです)。
preview-for-trials = 個々の試行のために次の設定を行い、試行後に元へ戻します:
preview-steps = 測定プラン「{ $plan }」の手順:
preview-step = { $times } × { $what }: 約 { $time }
preview-search = 探索({ $what } から開始): 約 { $times } 試行、約 { $time }(最大 { $most } 試行、{ $longest })
preview-total-searched = 合計で約 { $time }、探索が最も長引いた場合は { $most }(このほか試験環境の構築に数秒)です。
preview-total = 合計で約 { $time }(このほか試験環境の構築に数秒)です。
preview-limits = 判定基準:
preview-limit-nothing-measured = (未実施: 対象となる測定が測定プランにありません)
preview-limit-no-address = (未実施: { $ip } アドレスのないエンドポイントがあります)
preview-limit-not-comparable = (この試験環境では判定できません)
preview-limit-several = { $count } 条件
