import { describe, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import type { FakeEnd } from "../../../host/fake/fake-programs.ts";
import { createAnswerReader } from "./__fixtures__/answer-reader.ts";
import { createSystemLogsEndpoint } from "./system-logs-endpoint.ts";

function createRig({ allowsQuery = true } = {}) {
  const host = createFakeHost();
  const { files, clock, programs } = host;
  const endpoint = createSystemLogsEndpoint(
    { files, clock, programs, log: silentLog },
    { directory: "/var/log", allowsQuery },
  );
  files.put("/var/log/syslog", "0123456789");
  const ask = createAnswerReader(endpoint);
  const journal = (answer: (args: readonly string[]) => FakeEnd) => {
    programs.install("/usr/bin/journalctl", ({ args }) =>
      args[0] === "--field" ? { stdout: "cron.service\nkubelet.service\n" } : answer(args),
    );
  };
  return { ...host, ask, journal };
}

describe("files", () => {
  it("gives a file with its length and time", async () => {
    const { ask } = createRig();
    expect(await ask("/logs/syslog")).toEqual({
      status: 200,
      contentType: "text/plain; charset=utf-8",
      headers: {
        "accept-ranges": "bytes",
        "content-length": "10",
        "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
        "x-content-type-options": "nosniff",
      },
      body: "0123456789",
    });
  });

  it.each([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=8-", 206, "89", "bytes 8-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-30", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=4-2", 200, "0123456789", undefined],
    ["bytes=0-1,3-4", 200, "0123456789", undefined],
    ["lines=1-2", 200, "0123456789", undefined],
  ])("gives the range %s", async (range, status, body, contentRange) => {
    const answer = await createRig().ask("/logs/syslog", { headers: { range } });
    expect([answer.status, answer.body, answer.headers["content-range"]]).toEqual([status, body, contentRange]);
  });

  it("says that a file is not newer than the reader's", async () => {
    const { ask } = createRig();
    const since = (time: string) => ({ headers: { "if-modified-since": time } });
    const newest = await ask("/logs/syslog", since("Thu, 01 Jan 2026 00:00:00 GMT"));
    expect([newest.status, newest.body]).toEqual([304, ""]);
    expect((await ask("/logs/syslog", since("Wed, 31 Dec 2025 00:00:00 GMT"))).status).toBe(200);
  });

  it.each([
    ["0.log.gz", "\u001f\u008bx", "application/gzip"],
    ["wtmp", "a\u0000b", "application/octet-stream"],
    ["page.html", "<script>alert()</script>", "text/plain; charset=utf-8"],
    ["colours", "\u001b[31mred\n", "text/plain; charset=utf-8"],
  ])("tells what %s is", async (name, content, contentType) => {
    const { ask, files } = createRig();
    files.put(`/var/log/${name}`, Buffer.from(content, "latin1"));
    expect((await ask(`/logs/${name}`)).contentType).toBe(contentType);
  });

  it("lists a directory as Go does", async () => {
    const { ask, files } = createRig();
    files.put("/var/log/pods/x/0.log", "");
    files.put("/var/log/a<b> & 'c'?", "");
    files.put("/var/log/a:b#", "");
    expect(await ask("/logs/")).toMatchObject({
      status: 200,
      contentType: "text/html; charset=utf-8",
      body: [
        '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>',
        '<a href="./a:b%23">a:b#</a>',
        '<a href="a%3Cb%3E%20&%20%27c%27%3F">a&lt;b&gt; &amp; &#39;c&#39;?</a>',
        '<a href="pods/">pods/</a>',
        '<a href="syslog">syslog</a>',
        "</pre>\n",
      ].join("\n"),
    });
    expect((await ask("/logs/pods/x/")).body).toContain('<a href="0.log">0.log</a>');
  });

  it.each([
    ["/logs/pods", 301, "pods/"],
    ["/logs/pods?a=b%20c", 301, "pods/?a=b+c"],
    ["/logs/syslog/", 301, "../syslog"],
    ["/logs/pods/index.html", 301, "./"],
    ["/logs/%E6%97%A5%E6%9C%AC", 301, "%E6%97%A5%E6%9C%AC/"],
    ["/logs/two%0Alines", 301, "two%0Alines/"],
    ["/logs/a:b", 301, "./a:b/"],
  ])("leads %s to where it is", async (target, status, location) => {
    const { ask, files } = createRig();
    for (const name of ["pods", "日本", "two\nlines", "a:b"]) files.put(`/var/log/${name}/0.log`, "");
    expect(await ask(target)).toMatchObject({ status, headers: { location } });
  });

  it.each([
    ["/logs/nothing", 404, "404 page not found\n"],
    ["/logs/syslog/below", 404, "404 page not found\n"],
    ["/logs/../../etc/shadow", 404, "404 page not found\n"],
    ["/logs/%2e%2e/%2e%2e/etc/shadow", 404, "404 page not found\n"],
    ["/logs/out", 403, "403 Forbidden\n"],
    ["/logs/up", 403, "403 Forbidden\n"],
    ["/logs/fifo", 403, "403 Forbidden\n"],
    ["/logs/loop", 500, "500 Internal Server Error\n"],
  ])("does not give %s: %i", async (target, status, body) => {
    const { ask, files } = createRig();
    files.put("/etc/shadow", "secret");
    await files.link("/etc/shadow", "/var/log/out");
    await files.link("../../etc/shadow", "/var/log/up");
    await files.link("loop", "/var/log/loop");
    files.putSpecial("/var/log/fifo", "other");
    expect(await ask(target)).toMatchObject({ status, body });
  });

  it("follows the links to logs of pods that are beneath the directory", async () => {
    const { ask, files } = createRig();
    files.put("/var/log/pods/x/0.log", "text");
    await files.makeDirectory("/var/log/containers", 0o755);
    await files.link("/var/log/pods/x/0.log", "/var/log/containers/x.log");
    expect((await ask("/logs/containers/x.log")).body).toBe("text");
  });

  it("takes no other method, and no query that is not allowed", async () => {
    expect(await createRig().ask("/logs/syslog", { method: "POST" })).toMatchObject({ status: 405 });
    expect((await createRig({ allowsQuery: false }).ask("/logs/?query=kubelet")).contentType).toMatch(/html/);
  });
});

describe("queries", () => {
  it("gives a file by its path", async () => {
    const { ask } = createRig();
    expect((await ask("/logs/?query=/syslog")).body).toBe("0123456789");
    expect(await ask("/logs/?query=/nothing")).toMatchObject({
      status: 406,
      body: 'query: Invalid value: ["/nothing"]: stat /var/log/nothing: no such file or directory\n',
    });
    expect(await ask("/logs/?query=../etc/shadow")).toMatchObject({ status: 406 });
    expect(await ask("/logs/?tailLines=5")).toMatchObject({ status: 406 });
    expect(await ask("/logs/?query=%20")).toMatchObject({ status: 400 });
  });

  it("asks the journal by arguments that no service name and no pattern can break out of", async () => {
    const { ask, journal, programs } = createRig();
    journal(() => ({ stdout: "Jan 01 kubelet: text\n" }));
    const since = "sinceTime=2026-01-01T02:00:00%2B02:00&untilTime=2026-01-01T12:00:00Z";
    const answer = await ask(`/logs/?query=kubelet&query=cron&${since}&tailLines=5&boot=-1&pattern=--output%3Djson;ls`);
    expect(answer).toMatchObject({
      status: 200,
      contentType: "text/plain;charset=UTF-8",
      body: "Jan 01 kubelet: text\n",
    });
    expect(programs.runs.at(-1)).toMatchObject({
      path: "/usr/bin/journalctl",
      args: [
        "--utc",
        "--no-pager",
        "--output=short-precise",
        "--since=2026-01-01 00:00:00 UTC",
        "--until=2026-01-01 12:00:00 UTC",
        "--pager-end",
        "--lines=5",
        "--unit=kubelet",
        "--unit=cron",
        "--grep=--output=json;ls",
        "--case-sensitive=false",
        "--boot",
        "-1",
      ],
    });
  });

  it("looks for files of services that the journal does not know", async () => {
    const { ask, journal, files } = createRig();
    journal(() => ({ stdout: "journal\n" }));
    files.put("/var/log/plain", "plain\n");
    files.put("/var/log/dotted.log", "dotted\n");
    files.put("/var/log/nested/nested.log", "nested\n");
    const answer = await ask("/logs/?query=plain&query=dotted&query=nested&query=nowhere");
    expect(answer.body).toBe("plain\ndotted\nnested\n\nlog not found for nowhere\n");
    expect((await ask("/logs/?query=plain&tailLines=1")).body).toBe(
      "\noptions present and query resolved to log files for [plain]\ntry without specifying options\n",
    );
  });

  it("says that there is no journal", async () => {
    const { ask } = createRig();
    expect((await ask("/logs/?query=kubelet")).body).toBe(
      "\nlog not found for kubelet\n\njournalctl cannot be run on this node: only log files were looked at\n",
    );
  });

  it("gives what a journal that never ends has printed no more than its time", async () => {
    const { ask, journal, clock } = createRig();
    journal(() => ({ takesMs: 3_600_000 }));
    const asked = ask("/logs/?query=kubelet");
    await clock.advance(31_000);
    expect((await asked).status).toBe(200);
    expect(clock.pendingTimers).toBe(0);
  });
});
