//! The guided tour.

words! {
    Tour, tour;

    tour: "Guided tour", "导览";
    step: "{0} of {1}", "第 {0} 步，共 {1} 步";
    back: "Back", "上一步";
    next: "Next", "下一步";
    leave: "Leave", "离开";
    done: "Done", "完成";
    offer: "New here?", "第一次来？";
    take: "Take the tour, ten short steps", "跟着走一遍，十小步";
    not_now: "Not now", "以后再说";

    way_title: "The way of a request", "一个请求的路";
    way: "Requests come in at the left, are sorted into classes, wait in a lane for a worker, and go to a server. Each mark in a lane is one request. Its shape and colour say which class it is.", "请求从左边进来，先分类，再在通道里等线程，最后交给服务器。通道里一个标记就是一个请求，形状和颜色表示类别。";
    overload_title: "What overload is", "什么是过载";
    overload: "A crowd has arrived: more is asked than there is. Queues can only grow from here, so somebody has to wait longer or be turned away. The line at the top always says who.", "人流来了，要的比能给的多。队列只会越来越长，总得有人多等，或者被拒绝。最上面这句话随时告诉你是谁。";
    away_title: "Who is turned away, and where", "谁被拒绝，在哪里";
    away: "At the entrance of its lane, before this stage has worked on it. The lane of Crawlers is full: 120 wait there, so whoever comes finds the gate shut, while Checkout and Browse still get in. Click a lane to see why, with the figures of this moment.", "在通道入口，本阶段还没动手的时候。Crawlers 的通道满了：120 个在等，再来的就进不了门，而 Checkout 和 Browse 照样能进。点一条通道，可看当下的数字和原因。";
    starved_title: "Priority alone starves", "只有优先级会饿死人";
    starved: "The urgent alone ask for more than there is, and strict priority always gives to them. Low waits, and none of it is ever served. Its lane says for how long. The curve above the lanes is the chance of being turned away, on the same axis: Low stands at its end.", "光是紧急请求就超过了能力，严格优先又总是先给它们。Low 一直在等，一个也没有完成，通道上写着已有多久。通道上方的曲线是拒绝的概率，用的是同一把尺：Low 已在尽头。";
    ageing_title: "Ageing", "老化";
    ageing: "The same traffic, with a fifth of the work kept for whoever has waited too long. Low gets its turn every few seconds, and the urgent class loses only a fiftieth of its answers.", "同样的流量，只是把五分之一的工作量留给等得太久的请求。Low 每隔几秒就轮到一次，紧急的一类只少了五十分之一。";
    ratio_title: "Waits in proportion", "按比例等待";
    ratio: "Gold should wait half as long as Silver. A minute ago twice as many Gold clients came; the controller moved workers to them, and the ratio came back. The left bar is what it turns, the right one what it wants.", "Gold 的等待应为 Silver 的一半。一分钟前 Gold 的客户多了一倍，控制器给它们移去线程，比例又回来了。左边的条是它调的，右边的条是它要的。";
    balancer_title: "The balancer", "均衡器";
    balancer: "server-2 works at a fifth of its speed and still passes its health check. Servers report their load, its weight has fallen, and the others take its part. Turns would make everybody wait for it.", "server-2 的速度只剩五分之一，健康检查却照样通过。服务器会上报负载，于是它的权重降了下来，由其余几台分担。要是轮流来，所有人都得等它。";
    compare_title: "Comparing", "对比";
    compare: "Change any number in the editor and the run is computed anew; dotted lines show how it was. Compare runs two policies on exactly the same requests, side by side.", "在编辑器里改任何一个数，都会重新运行，点线是原来的样子。“对比”让两种策略面对完全相同的请求，并排运行。";
    share_title: "Sharing", "分享";
    share: "The whole scenario is in the link: policies, numbers, events and seed. Whoever opens it sees the same run to the last request, and the link proves it.", "整个场景都在链接里：策略、参数、事件和种子。谁打开都是同一次运行，一个请求也不差，链接自己就能证明。";
    real_title: "For real", "动真格的";
    real: "The same policies, from the same file, run in front of your own servers with one command. Live shows them here while they work.", "同样的策略、同一个文件，一条命令就能架在你自己的服务器前面。它们工作的时候，可以在“实况”里看。";
}
