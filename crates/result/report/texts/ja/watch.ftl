# 現在のレートの表示: watch
watch-interface = IF
watch-link = リンク
watch-received = 受信
watch-sent = 送信
watch-dropped = 破棄
watch-errors = エラー
watch-now = 現在
watch-mean = 平均
watch-peak = 最大
watch-total = 合計
watch-line = 回線比
watch-packets = パケット
watch-graph = 直近 { $seconds } 秒、最大 { $rate }
watch-up = アップ
watch-down = ダウン
watch-no-carrier = リンクなし
watch-gone = 消失
watch-own = 現在の名前空間
watch-queue = キュー
watch-xdp = XDP
watch-driver = ドライバー
watch-count = { $count ->
   *[other] { $count } インターフェース
}
watch-range = { $count } 中 { $first }–{ $last }
watch-every = { $interval } ごと
watch-line-note = 回線比: レイヤー 1(FCS・プリアンブル・フレーム間ギャップを含む)
watch-keys = q 終了   ↑↓ 選択   Enter 詳細
watch-keys-short = q 終了
watch-small = 端末が小さすぎます({ $columns }×{ $rows } 以上必要)。q で終了します。
watch-nothing = 表示できるインターフェースがありません。
watch-unread = { $namespace } を読み取れません: { $why }
watch-watched = 観測時間 { $time }
watch-idle = 通信なし: { $names }
