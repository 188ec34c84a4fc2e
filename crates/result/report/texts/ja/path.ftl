# パス MTU とその制限要因。キーは en/ と同じ。

path-of = 経路MTU・{ $ip }
path-vlan-note = インターフェースの MTU より数バイト大きい値は誤りではありません。大きいパケットを破棄する側は、VLAN タグ(4 バイト)の分だけ余分に通します。
kept-down-by = 制限要因: { $culprit }
short-own-interface = インターフェース { $device }({ $host })
short-peer-interface = インターフェース { $device }({ $host })
short-bridge-member = ブリッジのメンバー { $device }({ $host })
short-middle-hop = ルーター { $host }
short-black-hole = 大きいパケットを通知なしに破棄する機器
short-icmp-filtered = ICMP が遮断されたルーター
