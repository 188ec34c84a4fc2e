# 経路MTU とその制限要因。キーは en/ と同じ。

path-of = 経路MTU・{ $ip }
path-vlan-note = インターフェースの MTU より数バイト大きい値は誤りではありません。大きいパケットを破棄する側は、VLAN タグ(4 バイト)の分だけ余分に通します。
kept-down-by = 制限要因: { $culprit }
short-own-interface = インターフェース { $device }({ $host })
short-peer-interface = インターフェース { $device }({ $host })
short-bridge-member = ブリッジのメンバー { $device }({ $host })
short-middle-hop = ルーター { $host }
short-black-hole = 大きいパケットを通知なしに破棄する機器
short-icmp-filtered = ICMP が遮断されたルーター
hops-caption = このホスト側から相手側までの各ホップ
hop-col-number = ホップ
hop-col-address = アドレス
hop-col-sent = 送信パケット
hop-col-unanswered = 応答なし
hop-col-shortest = 最短 RTT
hop-col-median = 中央値 RTT
hop-col-longest = 最長 RTT
hop-silent = 応答なし
hop-line = ホップ { $number } { $address }: { $sent } 個中の応答なし { $unanswered }、RTT { $median }
hop-line-silent = ホップ { $number } { $address }({ $sent } パケット)
hops-note = ルーターは、TTL 切れの通知の頻度を制限し、通常の転送より後回しにします。あるホップでパケットが失われたといえるのは、それより先のホップと相手側でも同じ割合で応答がない場合だけです。RTT も同様です。
