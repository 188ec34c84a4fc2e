# 片側だけで動かす、番号付きパケットの送信・受信。

notice-sending = { $interface } から { $to } へ送信しています。Ctrl-C で終了します。
notice-listening = { $interface } で番号付きパケットを計数しています。Ctrl-C で終了します。送信側を開始してください。
sides-so-far = 受信 { $received }、{ $pps }、損失 { $lost }
sides-col-stream = ストリーム
sides-col-sequence = シーケンス
sides-nothing = 番号付きパケットは届きませんでした。送信側のトークンと一致しているか確認してください。VLAN タグ付きの場合や、TCP で小さなフレームまたは IPv6 の場合は、両側に同じ --stream-file を指定してください。
sides-lost-note = 損失: 0 から届いた最大の番号までのうち、届かなかった番号の数です。それより後に送信された分はこちらでは分かりません。送信側の計数と比べてください。
sides-others = その他のフレーム(カーネルへ渡したもの): { $others }
