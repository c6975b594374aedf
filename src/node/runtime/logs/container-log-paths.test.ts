import { describe, expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import {
  containerLogName,
  legacyLogLink,
  podLogDirectory,
  readRestartCountFromLogs,
  removeLogsOfUid,
} from "./container-log-paths.ts";

const pod = { uid: "uid-1", name: "web", namespace: "default" };

it("names logs as kubelet does", () => {
  expect(podLogDirectory("/var/log/pods", pod)).toBe("/var/log/pods/default_web_uid-1");
  expect(containerLogName("main", 3)).toBe("main/3.log");
  expect(legacyLogLink("/var/log/containers", pod, { name: "main", id: "abc" })).toBe(
    "/var/log/containers/web_default_main-abc.log",
  );
});

it("cuts a link's name to what a file system takes", () => {
  const link = legacyLogLink("/logs", { ...pod, name: "w".repeat(253) }, { name: "main", id: "a".repeat(64) });
  expect(link.slice("/logs/".length)).toHaveLength(255);
  expect(link.endsWith(".log")).toBe(true);
});

describe("the restart count that logs prove", () => {
  it.each([
    [[], 0],
    [["0.log"], 1],
    [["0.log", "3.log", "10.log"], 11],
    [["2.log.20260102-030405.gz"], 3],
    [["x.log", "1.txt", "01x.log"], 0],
  ])("%o: %i", async (names, expected) => {
    const { files } = createFakeHost();
    for (const name of names) files.put(`/logs/main/${name}`, "");
    expect(await readRestartCountFromLogs(files, "/logs/main")).toBe(expected);
  });

  it("is not guessed when the directory cannot be read", async () => {
    const { files } = createFakeHost();
    files.put("/logs/main", "a file");
    await expect(readRestartCountFromLogs(files, "/logs/main")).rejects.toMatchObject({ code: "ENOTDIR" });
  });
});

describe("removing the logs of a UID", () => {
  it("takes those of that UID, whatever its name was, and leaves the others", async () => {
    const { files } = createFakeHost();
    const names = ["default_web_uid-1", "kube-system_dns_uid-1", "default_web_uid-11", "default_web_uid_1", "uid-1"];
    for (const name of names) files.put(`/logs/${name}/main/0.log`, "");
    await removeLogsOfUid(files, "/logs", "uid-1");
    expect((await files.list("/logs")).map(({ name }) => name)).toEqual([
      "default_web_uid-11",
      "default_web_uid_1",
      "uid-1",
    ]);
    await removeLogsOfUid(files, "/logs", "uid_1");
    expect(await files.stat("/logs/default_web_uid_1")).toBeUndefined();
  });

  it("finds nothing where there are no logs", async () => {
    await removeLogsOfUid(createFakeHost().files, "/logs", "uid-1");
  });
});
