import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Log, type LogFields, silentLog } from "../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { createFileSource, type FileSource } from "./file-source.ts";
import type { SourceSnapshot } from "./source-snapshot.ts";

const DIRECTORY = "/etc/kubernetes/manifests";
const file = (name: string) => `${DIRECTORY}/${name}`;
const manifest = (name: string, image = "busybox") =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: main\n    image: ${image}\n`;

let host: FakeHost;
let controller: AbortController;
let running: Promise<void>;
let source: FileSource;
let snapshots: SourceSnapshot[];
let logged: Array<{ level: string; message: string; fields: LogFields }>;

const log: Log = {
  ...silentLog,
  error: (message, fields = {}) => void logged.push({ level: "error", message, fields }),
  warn: (message, fields = {}) => void logged.push({ level: "warn", message, fields }),
};

beforeEach(() => {
  host = createFakeHost();
  controller = new AbortController();
  snapshots = [];
  logged = [];
  running = Promise.resolve();
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(host.clock.pendingTimers).toBe(0);
});

async function start(path = DIRECTORY, refusesForeign = false, ignoresOtherKinds = false): Promise<void> {
  const { clock, files } = host;
  const emit = (snapshot: SourceSnapshot) => void snapshots.push(snapshot);
  const options = { path, nodeName: "node-1", refusesForeign, ignoresOtherKinds };
  source = createFileSource({ clock, files, log, emit }, options);
  running = source.run(controller.signal);
  await clock.advance(100);
}

/** More than the burst of a change takes, and far less than the periodic check. */
const pause = async () => host.clock.advance(200);
const periodicCheck = async () => host.clock.advance(20_000);
const lastNames = () => snapshots.at(-1)?.pods.map(({ metadata }) => metadata?.name?.replace("-node-1", ""));
const lastImages = () => snapshots.at(-1)?.pods.map(({ spec }) => spec?.containers[0]?.image);
const countReads = () => {
  let reads = 0;
  host.files.intercept(({ operation, phase }) => {
    if (operation === "read" && phase === "before") reads++;
  });
  return () => reads;
};

describe("file source: a directory", () => {
  it("gives its pods in order of the files' names, without dot files", async () => {
    host.files.put(file("b.yaml"), manifest("b"));
    host.files.put(
      file("a.json"),
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "a" },
        spec: { containers: [{ name: "main", image: "x" }] },
      }),
    );
    host.files.put(file("c.yaml"), `${manifest("c1")}---\n${manifest("c2")}`);
    host.files.put(file(".hidden.yaml"), manifest("hidden"));
    await start();
    expect(snapshots).toHaveLength(1);
    expect(lastNames()).toEqual(["a", "b", "c1", "c2"]);
    expect([...(snapshots[0]?.origins?.values() ?? [])].at(-1)).toBe(`${file("c.yaml")}, document 2`);
    expect(logged).toEqual([]);
  });

  it("tells which files are wrong, for as long as they are", async () => {
    host.files.put(file("good.yaml"), manifest("good"));
    host.files.put(file("name.yaml"), manifest("bad_Name"));
    host.files.put(file("empty.yaml"), "");
    await start();
    expect(source.problems()).toEqual([
      { file: "empty.yaml", message: "it holds no pod" },
      { file: "name.yaml", message: expect.stringMatching(/^document 1: metadata\.name: Invalid value/) },
    ]);
    host.files.put(file("name.yaml"), manifest("name"));
    await host.files.remove(file("empty.yaml"));
    host.files.put(file("good.yaml"), "a: [");
    await pause();
    expect(source.problems()).toEqual([
      { file: "good.yaml", message: expect.stringMatching(/^document 1: .* \(pods that it gave before: 1 stay\)$/) },
    ]);
  });

  it("tells that there is no directory", async () => {
    await start();
    expect(source.problems()).toEqual([
      { file: DIRECTORY, message: "Pod manifest path does not exist: it gives no pods" },
    ]);
  });

  it("leaves a file without pods to others where it is told to, and ends the pods that it gave", async () => {
    const other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    host.files.put(file("a.yaml"), manifest("a") + other);
    await start(DIRECTORY, false, true);
    expect(lastNames()).toEqual(["a"]);
    host.files.put(file("a.yaml"), other);
    await pause();
    expect(lastNames()).toEqual([]);
    expect(logged).toEqual([]);
  });

  it("gives an empty snapshot of an empty directory, once", async () => {
    await host.files.makeDirectory(DIRECTORY, 0o755);
    await start();
    await periodicCheck();
    expect(snapshots).toMatchObject([{ source: "file", pods: [] }]);
  });

  it.each<[string, () => void, string[]]>([
    ["a new file", () => host.files.put(file("b.yaml"), manifest("b")), ["a", "b"]],
    ["a changed file", () => host.files.put(file("a.yaml"), manifest("changed")), ["changed"]],
    ["a removed file", () => host.files.delete(file("a.yaml")), []],
    ["a file that is renamed to a dot file", () => host.files.move(file("a.yaml"), file(".a.yaml")), []],
    [
      "a file that replaces another",
      () => {
        host.files.put(file(".new"), manifest("new"));
        host.files.move(file(".new"), file("a.yaml"));
      },
      ["new"],
    ],
  ])("notices %s at once", async (_what, change, expected) => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    change();
    await host.clock.advance(10);
    expect(lastNames()).toEqual(expected);
    await periodicCheck();
    expect(snapshots).toHaveLength(2);
  });

  it("finds by the periodic check what no event told, and watches again where the path leads", async () => {
    host.files.put("/one/a.yaml", manifest("a"));
    host.files.put("/two/b.yaml", manifest("b"));
    await host.files.link("/one", "/manifests");
    await start("/manifests");
    await host.files.link("/two", "/manifests");
    await pause();
    expect(lastNames()).toEqual(["a"]);
    await periodicCheck();
    expect(lastNames()).toEqual(["b"]);
    host.files.put("/two/c.yaml", manifest("c"));
    await pause();
    expect(lastNames()).toEqual(["b", "c"]);
  });

  it("finds what a lost event told", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    const restore = host.files.intercept(({ operation }) => {
      if (operation === "notify") throw new Error("queue overflow");
    });
    host.files.put(file("b.yaml"), manifest("b"));
    await pause();
    expect(lastNames()).toEqual(["a"]);
    restore();
    await periodicCheck();
    expect(lastNames()).toEqual(["a", "b"]);
  });

  it("tells of the pods whose file was away when it is looked for, once", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    host.files.put(file("b.yaml"), manifest("b"));
    await start();
    host.files.delete(file("a.yaml"));
    host.files.put(file("a.yaml"), manifest("a"));
    await pause();
    expect(lastNames()).toEqual(["a", "b"]);
    expect([...(snapshots[1]?.returned ?? [])]).toEqual([snapshots[0]?.pods[0]?.metadata?.uid]);
    await periodicCheck();
    expect(snapshots).toHaveLength(2);
  });

  it.each<[string, () => void]>([
    ["is replaced by a rename", () => host.files.move(file(".a.yaml"), file("a.yaml"))],
    ["is written in place", () => host.files.put(file("a.yaml"), manifest("a"))],
  ])("tells of no return of a file that %s", async (_what, change) => {
    host.files.put(file("a.yaml"), manifest("a"));
    host.files.put(file(".a.yaml"), manifest("a"));
    await start();
    change();
    await pause();
    expect(snapshots).toHaveLength(1);
  });

  it("keeps nothing of a file that was away and comes back broken", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    host.files.delete(file("a.yaml"));
    host.files.put(file("a.yaml"), "kind: Pod\nmetadata: [");
    await pause();
    expect(lastNames()).toEqual([]);
    expect(logged.map(({ message }) => message)).toEqual(["Refused pod manifest"]);
  });

  it("reads on where removals cannot be noted", async () => {
    host.files.intercept(({ operation }) => {
      if (operation === "noteRemovals") throw new Error("no more inotify instances");
    });
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    host.files.delete(file("a.yaml"));
    host.files.put(file("a.yaml"), manifest("a", "other"));
    await pause();
    expect(lastImages()).toEqual(["other"]);
  });

  it("does not read unchanged files again, and says nothing when only the formatting changed", async () => {
    for (let index = 0; index < 20; index++) host.files.put(file(`${index}.yaml`), manifest(`pod-${index}`));
    await host.clock.advance(5_000);
    const reads = countReads();
    await start();
    await periodicCheck();
    expect(reads()).toBe(20);
    host.files.put(file("0.yaml"), `# a comment\n${manifest("pod-0")}`);
    await pause();
    expect(reads()).toBe(21);
    expect(snapshots).toHaveLength(1);
  });

  it("takes 1,000 manifests at once", async () => {
    for (let index = 0; index < 1_000; index++) host.files.put(file(`${index}.yaml`), manifest(`pod-${index}`));
    await start();
    expect(lastNames()).toHaveLength(1_000);
  });
});

describe("file source: bad input", () => {
  it.each<[string, string, RegExp]>([
    ["broken YAML", "{a: [", /document 1/],
    [
      "an invalid pod",
      manifest("a").replace("name: main", "name: Main_"),
      /document 1: spec\.containers\[0\]\.name: Invalid value/,
    ],
    [
      "a pod that asks for a secret",
      `${manifest("a")}  imagePullSecrets: [{name: x}]\n`,
      /spec\.imagePullSecrets: static pods may not/,
    ],
    ["an empty file, which another is about to fill", "", /holds no pod/],
    ["a file past 10 MiB", `#${"x".repeat(10 * 1024 * 1024)}`, /EFBIG/],
  ])("keeps the last good pods over %s, says so once, and goes on", async (_what, content, error) => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    host.files.put(file("a.yaml"), content);
    host.files.put(file("b.yaml"), manifest("b"));
    await pause();
    await periodicCheck();
    expect(lastNames()).toEqual(["a", "b"]);
    expect(logged).toMatchObject([{ level: "error", fields: { file: file("a.yaml"), podsKept: 1 } }]);
    expect(logged[0]?.fields["error"]).toMatch(error);
    host.files.put(file("a.yaml"), manifest("a", "other"));
    await pause();
    expect(lastImages()).toEqual(["other", "busybox"]);
    host.files.delete(file("a.yaml"));
    await pause();
    expect(lastNames()).toEqual(["b"]);
    expect(logged).toHaveLength(1);
  });

  it("reads a link once it leads to a manifest", async () => {
    host.files.put(file("b.yaml"), manifest("b"));
    await host.files.link("/elsewhere.yaml", file("a.yaml"));
    await start();
    expect(lastNames()).toEqual(["b"]);
    host.files.put("/elsewhere.yaml", manifest("a"));
    await periodicCheck();
    expect(lastNames()).toEqual(["a", "b"]);
  });

  it("forgets the pods of a broken file that is removed", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    host.files.put(file("a.yaml"), "{");
    await pause();
    host.files.delete(file("a.yaml"));
    await pause();
    expect(lastNames()).toEqual([]);
  });

  it("takes the good documents of a file and says of the other where it stands", async () => {
    host.files.put(file("a.yaml"), `${manifest("a")}---\n${manifest("b").replace("image: busybox", "image: 7")}`);
    await start();
    expect(lastNames()).toEqual(["a"]);
    expect(logged).toMatchObject([
      { fields: { file: file("a.yaml"), error: expect.stringContaining("document 2: ") } },
    ]);
    expect(logged[0]?.fields["error"]).toContain("spec.containers[0].image");
  });

  it("warns of unknown fields once", async () => {
    host.files.put(file("a.yaml"), `${manifest("a")}colour: blue\n`);
    await start();
    await periodicCheck();
    expect(logged).toMatchObject([
      { level: "warn", fields: { file: file("a.yaml"), warning: expect.stringContaining("colour") } },
    ]);
    expect(lastNames()).toEqual(["a"]);
  });

  it("ignores what is no file, with one error each", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    host.files.put(file("directory/b.yaml"), manifest("b"));
    host.files.putSpecial(file("fifo"), "other");
    await host.files.link("/nowhere", file("dangling"));
    await start();
    await periodicCheck();
    expect(lastNames()).toEqual(["a"]);
    expect(logged.map(({ fields }) => [fields["file"], fields["error"]])).toEqual([
      [file("dangling"), "it is a link that leads to nothing"],
      [file("directory"), "it is a directory: directories are not descended into"],
      [file("fifo"), "it is a pipe or another special file"],
    ]);
  });

  it("reads a file again that was written while it was read", async () => {
    host.files.put(file("a.yaml"), manifest("half"));
    let isWritten = false;
    host.files.intercept(({ operation, phase }) => {
      if (operation !== "read" || phase !== "after" || isWritten) return;
      isWritten = true;
      host.files.put(file("a.yaml"), manifest("whole"));
    });
    await start();
    expect(snapshots.map(({ pods }) => pods[0]?.metadata?.name)).toEqual(["whole-node-1"]);
  });

  it("keeps the pods of a file that cannot be read for a while", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    const restore = host.files.intercept(({ operation, path }) => {
      if (operation === "read" && path === file("a.yaml")) throw new Error("EIO: i/o error");
    });
    host.files.put(file("a.yaml"), manifest("changed"));
    await pause();
    expect(lastNames()).toEqual(["a"]);
    restore();
    await periodicCheck();
    expect(lastNames()).toEqual(["changed"]);
  });
});

describe("file source: the path", () => {
  it("gives no pods and one warning while it is missing, and notices when it comes", async () => {
    await host.files.makeDirectory("/etc/kubernetes", 0o755);
    await start();
    await periodicCheck();
    expect(snapshots).toMatchObject([{ pods: [] }]);
    expect(logged).toMatchObject([{ level: "warn", fields: { path: DIRECTORY } }]);
    host.files.put(file("a.yaml"), manifest("a"));
    await pause();
    expect(lastNames()).toEqual(["a"]);
    host.files.put(file("b.yaml"), manifest("b"));
    await pause();
    expect(lastNames()).toEqual(["a", "b"]);
  });

  it("comes later also where its parent is missing", async () => {
    await start();
    host.files.put(file("a.yaml"), manifest("a"));
    await periodicCheck();
    expect(lastNames()).toEqual(["a"]);
  });

  it("takes the pods away when it vanishes", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    await start();
    host.files.delete(DIRECTORY);
    await pause();
    expect(lastNames()).toEqual([]);
    host.files.put(file("b.yaml"), manifest("b"));
    await pause();
    expect(lastNames()).toEqual(["b"]);
  });

  it("is partial while a file could never be read, and keeps the pods of one that was", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    host.files.put(file("b.yaml"), manifest("b"));
    let broken = file("b.yaml");
    host.files.intercept(({ operation, path }) => {
      if (operation === "read" && path === broken) throw new Error("EIO: i/o error");
    });
    await start();
    expect([lastNames(), snapshots.at(-1)?.isPartial]).toEqual([["a"], true]);
    broken = file("a.yaml");
    await periodicCheck();
    expect([lastNames(), snapshots.at(-1)?.isPartial]).toEqual([["a", "b"], undefined]);
  });

  it("keeps the pods while it cannot be read, and is not seen before it was", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    let isBroken = true;
    host.files.intercept(({ operation }) => {
      if (operation === "list" && isBroken) throw new Error("EACCES: permission denied");
    });
    await start();
    await periodicCheck();
    expect(snapshots).toEqual([]);
    expect(logged).toMatchObject([{ level: "error", fields: { path: DIRECTORY, error: "EACCES: permission denied" } }]);
    isBroken = false;
    await periodicCheck();
    expect(lastNames()).toEqual(["a"]);
    isBroken = true;
    host.files.put(file("b.yaml"), manifest("b"));
    await periodicCheck();
    expect(lastNames()).toEqual(["a"]);
  });

  it("may be a single file", async () => {
    host.files.put("/etc/pod.yaml", manifest("a"));
    host.files.put("/etc/other.yaml", manifest("other"));
    await start("/etc/pod.yaml");
    expect(lastNames()).toEqual(["a"]);
    host.files.put("/etc/pod.yaml", manifest("b"));
    await pause();
    expect(lastNames()).toEqual(["b"]);
    host.files.delete("/etc/pod.yaml");
    await pause();
    expect(lastNames()).toEqual([]);
  });

  it("checks periodically where it cannot be watched, with one warning", async () => {
    host.files.put(file("a.yaml"), manifest("a"));
    host.files.intercept(({ operation }) => {
      if (operation === "watch") throw new Error("ENOSPC: system limit for number of file watchers reached");
    });
    await start();
    host.files.put(file("b.yaml"), manifest("b"));
    await periodicCheck();
    await periodicCheck();
    expect(lastNames()).toEqual(["a", "b"]);
    expect(logged).toMatchObject([{ level: "warn", message: expect.stringContaining("Cannot watch") }]);
  });
});

describe("file source: manifests that others than root may change", () => {
  const WARNING = "Pod manifests can be changed by others than root";

  it.each([
    ["its group may write to it (mode 0664)", 0o664, 0],
    ["everybody may write to it (mode 0646)", 0o646, 0],
    ["it belongs to user 1000, not to root", 0o600, 1000],
  ])("are warned of once: %s", async (reason, mode, user) => {
    host.files.put(file("a.yaml"), manifest("a"), mode);
    host.files.put(file("b.yaml"), manifest("b"), 0o644);
    if (user !== 0) giveTo(user);
    await start();
    await periodicCheck();
    expect(lastNames()).toEqual(["a", "b"]);
    expect(logged.filter(({ message }) => message === WARNING).map(({ fields }) => fields)).toMatchObject([
      { path: file("a.yaml"), reason },
    ]);
  });

  it("are refused where the flag says so, file by file", async () => {
    host.files.put(file("a.yaml"), manifest("a"), 0o666);
    host.files.put(file("b.yaml"), manifest("b"), 0o644);
    await start(DIRECTORY, true);
    expect(lastNames()).toEqual(["b"]);
    expect(logged).toMatchObject([
      { level: "error", message: "Refused pod manifest", fields: { file: file("a.yaml") } },
    ]);
  });

  it("give nothing at all where the flag says so and it is their directory", async () => {
    await host.files.makeDirectory(DIRECTORY, 0o777);
    host.files.put(file("a.yaml"), manifest("a"));
    await start(DIRECTORY, true);
    expect(snapshots.flatMap(({ pods }) => pods)).toEqual([]);
    expect(logged).toMatchObject([{ level: "error", message: "Cannot read pod manifest path" }]);
  });

  function giveTo(user: number): void {
    const { stat } = host.files;
    Object.assign(host.files, {
      stat: async (path: string) => {
        const status = await stat(path);
        return status && path === file("a.yaml") ? { ...status, user } : status;
      },
    });
  }
});
