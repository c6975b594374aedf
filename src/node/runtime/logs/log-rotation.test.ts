import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { messageOf } from "../../../base/errors.ts";
import { silentLog } from "../../../base/log.ts";
import { ContainerStatusResponse } from "../../../cri/gen/cri-v1.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { createLogRotation, type LogRotationDeps } from "./log-rotation.ts";

const DIRECTORY = "/var/log/pods/ns_pod_uid/main";
const LOG = `${DIRECTORY}/0.log`;
const INTERVAL = 10_000;

/** A container that logs, and a runtime that opens its log where it is missing. */
function createRig({ maxFiles = 5, ids = ["a"], isRead = false } = {}) {
  const host = createFakeHost({});
  const { clock, files } = host;
  const calls: string[] = [];
  const ended = new Set<string>();
  const complaints: string[] = [];
  let reopen = async (path: string): Promise<void> => files.put(path, "");
  const logOf = (id: string) => (id === "a" ? LOG : `/var/log/pods/ns_${id}_uid/main/0.log`);
  const deps: LogRotationDeps = {
    files,
    clock,
    log: { ...silentLog, error: (_message, fields) => void complaints.push(String(fields?.["error"])) },
    runningContainers: () =>
      ids.filter((id) => !ended.has(id)).map((id) => ({ id, logPath: isRead ? logOf(id) : undefined })),
    runtime: {
      async containerStatus({ containerId }) {
        calls.push(`status ${containerId}`);
        return ContainerStatusResponse.fromPartial({ status: { id: containerId, logPath: logOf(containerId) } });
      },
      async reopenContainerLog({ containerId }) {
        calls.push(`reopen ${containerId}`);
        await reopen(logOf(containerId));
        return {};
      },
    },
  };
  const options = { podLogsDirectory: "/var/log/pods", maxSizeBytes: 10, maxFiles, maxWorkers: 1 };
  const controller = new AbortController();
  return {
    ...host,
    calls,
    complaints,
    end: (id: string) => ended.add(id),
    names: async () => (await files.list(DIRECTORY)).map(({ name }) => name),
    onReopen: (next: typeof reopen) => {
      reopen = next;
    },
    async start() {
      void createLogRotation(deps, { ...options, monitorIntervalMs: INTERVAL })
        .run(controller.signal)
        .catch(messageOf);
      await clock.settle();
    },
    stop: () => controller.abort(),
  };
}

it("leaves a short log alone, and asks the runtime once where it is", async () => {
  const { files, clock, calls, names, start } = createRig();
  files.put(LOG, "123456789");
  await start();
  await clock.advance(5 * INTERVAL);
  expect([await names(), calls]).toEqual([["0.log"], ["status a"]]);
});

it("asks nothing where the reading of the pod has told it", async () => {
  const { files, clock, calls, names, start } = createRig({ isRead: true });
  files.put(LOG, "123456789 and more");
  await start();
  await clock.advance(INTERVAL);
  expect(calls).toEqual(["reopen a"]);
  expect(await names()).toHaveLength(2);
});

it("asks for no log of a container that has ended before its turn", async () => {
  const { files, calls, onReopen, end, start } = createRig({ ids: ["a", "b", "c"], isRead: true });
  files.put(LOG, "a long log of the container");
  onReopen(async (path) => {
    files.put(path, "");
    end("b");
  });
  await start();
  expect(calls).toEqual(["reopen a", "reopen c"]);
});

it("rotates a long one, and compresses what was rotated before", async () => {
  const { files, clock, names, start } = createRig();
  files.put(LOG, "first log is long");
  await start();
  expect([await names(), files.text(LOG)]).toEqual([["0.log", "0.log.20260101-000000"], ""]);
  files.put(LOG, "second log is long");
  await clock.advance(INTERVAL);
  expect(await names()).toEqual(["0.log", "0.log.20260101-000000.gz", "0.log.20260101-000010"]);
  const compressed = await files.read(`${DIRECTORY}/0.log.20260101-000000.gz`, 1_000);
  expect(gunzipSync(compressed).toString()).toBe("first log is long");
});

it("removes what is a thousand times too long, and does not have other logs wait until it is compressed", async () => {
  const { files, clock, names, complaints, start } = createRig();
  files.put(LOG, "x".repeat(10_001));
  await start();
  files.put(LOG, "second log is long");
  await clock.advance(INTERVAL);
  expect([await names(), complaints]).toEqual([["0.log", "0.log.20260101-000010"], []]);
});

it("keeps so many files as it may, the newest", async () => {
  const { files, clock, names, start } = createRig({ maxFiles: 3 });
  await files.makeDirectory(DIRECTORY, 0o755);
  await start();
  for (let round = 0; round < 6; round++) {
    files.put(LOG, `log of round ${round}`);
    await clock.advance(INTERVAL);
  }
  expect(await names()).toEqual(["0.log", "0.log.20260101-000050.gz", "0.log.20260101-000100"]);
});

it("gives the file its name back when the runtime does not open another", async () => {
  const { files, clock, names, complaints, onReopen, start } = createRig();
  files.put(LOG, "a long log of the container");
  onReopen(async () => await Promise.reject(new Error("the runtime is away")));
  await start();
  await clock.advance(3 * INTERVAL);
  expect([await names(), files.text(LOG)]).toEqual([["0.log"], "a long log of the container"]);
  expect(complaints).toEqual(["the runtime is away"]);
  onReopen(async (path) => files.put(path, ""));
  await clock.advance(INTERVAL);
  expect(await names()).toEqual(["0.log", "0.log.20260101-000040"]);
});

it("loses nothing where the runtime has opened another, and only its answer was lost", async () => {
  const { files, names, onReopen, start } = createRig();
  files.put(LOG, "a long log of the container");
  onReopen(async (path) => {
    files.put(path, "new");
    await Promise.reject(new Error("deadline exceeded"));
  });
  await start();
  expect([await names(), files.text(LOG)]).toEqual([["0.log", "0.log.20260101-000000"], "new"]);
  expect(files.text(`${DIRECTORY}/0.log.20260101-000000`)).toBe("a long log of the container");
});

it("makes up for a crash between the new name and the new file", async () => {
  const { files, calls, names, start } = createRig();
  files.put(`${DIRECTORY}/0.log.20251231-235959`, "rotated by the agent before");
  await start();
  expect(calls).toEqual(["status a", "reopen a"]);
  expect(await names()).toEqual(["0.log", "0.log.20251231-235959"]);
});

it("replaces no file when the clock stands still or goes back", async () => {
  const { files, clock, complaints, names, start } = createRig();
  files.put(LOG, "first log is long");
  await start();
  files.put(LOG, "second log is long");
  clock.jumpWallClock(-INTERVAL);
  await clock.advance(INTERVAL);
  expect(complaints).toEqual([]);
  expect(await names()).toEqual(["0.log", "0.log.20260101-000000.gz", "0.log.20260101-000001"]);
});

it("one log that cannot be rotated keeps no other one from it, and is told of once", async () => {
  const { files, clock, complaints, start } = createRig({ ids: ["a", "b", "c"] });
  await files.makeDirectory(DIRECTORY, 0o755);
  files.putSpecial(LOG, "other");
  files.put("/etc/long", "longer than ten bytes");
  await files.makeDirectory("/var/log/pods/ns_b_uid/main", 0o755);
  await files.link("/etc/long", "/var/log/pods/ns_b_uid/main/0.log");
  files.put("/var/log/pods/ns_c_uid/main/0.log", "a long log of the container");
  await start();
  await clock.advance(3 * INTERVAL);
  expect(complaints).toEqual([expect.stringContaining("EINVAL"), expect.stringContaining("ELOOP")]);
  expect(files.text("/var/log/pods/ns_c_uid/main/0.log")).toBe("");
  expect(files.text("/etc/long")).toBe("longer than ten bytes");
});

it("ends when it is told to, and leaves no timer", async () => {
  const { files, clock, start, stop } = createRig();
  files.put(LOG, "");
  await start();
  stop();
  await clock.settle();
  expect(clock.pendingTimers).toBe(0);
});

it("rotates nothing where a link leads that took the place of the logs meanwhile", async () => {
  const { files, clock, start } = createRig({ isRead: true, maxFiles: 2 });
  const old = "0.log.20200102-030405";
  for (const name of ["0.log", old]) {
    files.put(`${DIRECTORY}/${name}`, "a long log of the container");
    files.put(`/etc/${name}`, "of the host");
  }
  const end = files.intercept(({ operation, phase }) => {
    if (operation !== "list" || phase !== "after") return;
    end();
    files.move(DIRECTORY, "/var/log/pods/ns_pod_uid/moved");
    files.putLink("/etc", DIRECTORY);
  });
  await start();
  await clock.advance(INTERVAL);
  expect((await files.list("/etc")).map(({ name }) => name)).toEqual(["0.log", old]);
  expect((await files.list("/var/log/pods/ns_pod_uid/moved")).map(({ name }) => name)).not.toContain(old);
});
