// Runs in Firefox's own window, with its rights, before the first page: writes down what pages, frames and workers of a site
// write to their consoles, what they throw and what they ask for in vain. Answers with nothing; `firefox.rs` takes the lines.
const LEVELS = { error: "SEVERE", assert: "SEVERE", exception: "SEVERE", warn: "WARNING", debug: "DEBUG" };
const lines = (window.tidegateConsole = []);
const keep = (level, where, what) => {
    if (/^(blob:)?http:/.test(where)) lines.push({ level, message: `${where} ${what}` });
};

// Calls of `console` are known only in the process of the page. A script in every such process, also in those to come, hands
// them on.
Services.ppmm.addMessageListener("tidegate:console", ({ data }) =>
    keep(LEVELS[data.level] ?? "INFO", data.where, data.what));
const handOn = () => {
    const calls = Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage);
    const tell = ({ level, filename, arguments: said }) =>
        Services.cpmm.sendAsyncMessage("tidegate:console", {
            level,
            where: filename,
            what: Array.from(said, String).join(" "),
        });
    calls.addLogEventListener((call) => tell(call.wrappedJSObject ?? call),
        Services.scriptSecurityManager.getSystemPrincipal());
};
Services.ppmm.loadProcessScript(`data:text/javascript;charset=utf-8,${encodeURIComponent(`(${handOn})()`)}`, true);

// What nobody caught, and what the browser itself has to say about a page.
Services.console.registerListener({
    observe(said) {
        if (!(said instanceof Ci.nsIScriptError)) return;
        const level = said.flags & Ci.nsIScriptError.infoFlag ? "INFO"
            : said.flags & Ci.nsIScriptError.warningFlag ? "WARNING" : "SEVERE";
        keep(level, said.sourceName, `${said.lineNumber}: ${said.errorMessage}`);
    },
});

// Answers that say no, and requests without an answer, unless the page itself gave up waiting.
const look = (request) => {
    request.QueryInterface(Ci.nsIHttpChannel);
    let answer = "no answer";
    try {
        if (request.responseStatus < 400) return;
        answer = request.responseStatus;
    } catch {
        if (request.status === Cr.NS_BINDING_ABORTED || Components.isSuccessCode(request.status)) return;
    }
    keep("SEVERE", request.URI.spec, `Failed to load: ${answer}`);
};
Services.obs.addObserver(look, "http-on-stop-request");
