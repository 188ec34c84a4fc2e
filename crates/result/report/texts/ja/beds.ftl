# 試験環境。キーは en/ と同じ。

bed-lab = lab: 1台のマシン内の2つのネットワーク名前空間を veth ペアで接続
bed-lab-switch = lab: 1台のマシン内で、複数のネットワーク名前空間がブリッジを経て1つの名前空間へ送信
bed-lab-bridge = lab: 1台のマシン内の2つのネットワーク名前空間を、専用の名前空間の Linux ブリッジ(被試験装置)で接続
bed-lab-router = lab: 1台のマシン内の2つのネットワーク名前空間の間に、カーネルがルーティングする3つ目の名前空間(被試験装置)を配置
bed-lab-vswitch = lab: 1台のマシン内の2つのネットワーク名前空間の間に、2つの Linux ブリッジを介した Linux ルーターの名前空間(被試験装置)を配置。ホストの仮想スイッチに接続した仮想マシン(ルーター)に相当
bed-lab-ovs = lab: 1台のマシン内の2つのネットワーク名前空間を、専用の名前空間の Open vSwitch(被試験装置)で接続。転送はデーモンが行う(netdev データパス)
bed-lab-xdp-router = lab: 1台のマシン内の2つのネットワーク名前空間の間に、wireproof の XDP ルーターが転送する3つ目の名前空間(被試験装置)を配置
bed-hosts = hosts: 2台のマシン(2台目は ssh 経由で制御)
bed-ports = ports: 1台のマシンの2つのポート({ $near }、{ $far })をそれぞれ専用のネットワーク名前空間に配置し、トラフィックが必ずポートから外に出る構成
bed-hosts-one-kernel = hosts: 同じカーネルを共有する{ $count }個のコンテナーまたはネットワーク名前空間(1つを除き ssh 経由で制御)
link-hosts-one-kernel = 仮想リンク
link-hosts-one-kernel-meaning = 1台のマシン内のコンテナーまたはネットワーク名前空間を結ぶ仮想リンク
