//! The scenario as text, the palette, the gallery, and the table.

words! {
    Text, text;

    as_text: "As text", "文本";
    as_fields: "As fields", "表单";
    json: "JSON", "JSON";
    toml: "TOML", "TOML";
    json_about: "Whatever you type runs as soon as it follows the rules.", "输入的内容一旦合乎规则，就立即运行。";
    toml_about: "To take away: the command line reads it. Only JSON can be changed here; a reader of TOML would make the page larger for everybody.", "供带走使用，命令行能读。这里只能改 JSON：加上 TOML 解析器，所有人都要多下载一份。";
    line: "line {0}", "第 {0} 行";
    problem: "{0}: {1} (it is {2}).", "{0}：{1}（现为 {2}）。";
    no_json: "This is not JSON: {0}.", "不是 JSON：{0}。";
    meant: "Did you mean {0}?", "是否想写 {0}？";
    revert: "Back to what runs", "恢复为正在运行的";

    look_next: "Next: {0}", "接着看：{0}";
    beside: "Beside it:", "对照：";
    search: "Search", "搜索";
    search_none: "Nothing by that name.", "没有找到。";
    empty_title: "Empty page", "空白页";
    empty_question: "What would you like to overload?", "你想压垮什么？";
    empty_look: "No requests yet. Give the class a rate, add classes, stages and servers of your own.", "还没有请求。给这一类一个速率，再加上自己的类、阶段和服务器。";

    palette: "Find anything", "查找";
    palette_about: "Actions, numbers, parts and presets.", "操作、参数、部件和预设。";
    palette_label: "What are you looking for?", "要找什么？";
    kind_preset: "preset", "预设";
    kind_part: "part", "部件";
    key_palette: "Find any action or number", "查找操作或参数";
    key_text: "Scenario as text", "以文本编辑场景";
    key_tour: "Guided tour", "导览";
    key_table: "State as a table", "以表格读取状态";
    key_language: "Other language", "切换语言";

    table: "State at {0}", "{0} 时的状态";
    table_about: "The same as the picture shows. While the run plays it stands still until you refresh it.", "与画面相同。播放时表格不动，按“刷新”更新。";
    refresh: "Refresh", "刷新";
    classes: "Classes", "各类";
    lanes: "Stages and lanes", "阶段与通道";
    offered: "Offered per second", "每秒到达";
    lane: "Lane", "通道";
    average: "Average", "平均";
    chance: "Chance of being turned away", "拒绝概率";
    workers: "Workers", "线程";

    warn_ratio: "{0} cannot wait longer than {1} here, but once {2} waits {3} the ratio asks for more. It will settle below its target.", "{0} 在此最多等 {1}，而 {2} 一旦等到 {3}，按比例它就该等得更久：比例会稳定在目标以下。";
    warn_starved: "Those above {0} ask for {1} of what there is, and its average counts them all: nearly all of {0} is turned away.", "{0} 之上的各类已占去能力的 {1}，而它的平均值把它们全算在内：{0} 几乎全被拒绝。";
    warn_period: "A report each {0}, and a request takes {1}: weights follow a load that is long past.", "每 {0} 上报一次，而一个请求只需 {1}：权重跟随的是早已过去的负载。";
    drag_me: "Drag me.", "拖动我。";
    grip: "{0} of {1}, {2}", "{1} 的{0}，{2}";
}
