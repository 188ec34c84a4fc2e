senders-heading = 全送信側の合計
sum-of-senders = 全送信側の合計
slowest-sender = 最も遅い送信側
senders-caption = すべての送信側が同時に送出し、受信側で計数した合計値(試行間の中央値)と、各エンドポイントが占める割合。
col-together = 合計
col-shares = 内訳
senders-packets-caption = すべての送信側が同時に送出したパケットの合計: 送出、到着、損失。レートは試行間の中央値、損失は全試行の合計です。
