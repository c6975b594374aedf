import { expect, it } from "vitest";
import {
  CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION,
  CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION,
} from "../../../api/well-known.ts";
import { ContainerStatus } from "../../../cri/gen/cri-v1.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import type { Files } from "../../../host/port.ts";
import { readTerminationMessage } from "./termination-message.ts";

const FILE = "/pods/uid-1/containers/main/1";
const LOG = "/logs/pod/main/0.log";
const line = (text: string) => `2026-01-02T03:04:05.000000000Z stdout F ${text}\n`;

interface Case {
  file?: string;
  log?: string;
  policy?: "File" | "FallbackToLogsOnError";
  exitCode?: number;
  runtimeSays?: string;
}

async function readMessage({ file, log, policy = "FallbackToLogsOnError", exitCode = 1, runtimeSays = "" }: Case) {
  const { files } = createFakeHost();
  if (file !== undefined) files.put(FILE, file);
  if (log !== undefined) files.put(LOG, log);
  return await readMessageIn(files, { policy, exitCode, runtimeSays });
}

async function readMessageIn(
  files: Files,
  { policy = "FallbackToLogsOnError", exitCode = 1, runtimeSays = "" }: Omit<Case, "file" | "log"> = {},
) {
  const status = ContainerStatus.fromPartial({
    annotations: {
      [CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION]: "/dev/termination-log",
      [CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION]: policy,
    },
    mounts: [
      { containerPath: "/data", hostPath: "/data" },
      { containerPath: "/dev/termination-log", hostPath: FILE },
    ],
    exitCode,
    logPath: LOG,
    message: runtimeSays,
  });
  return await readTerminationMessage(files, status);
}

it.each<[string, Case, string]>([
  ["what it wrote", { file: "out of beans", log: line("log") }, "out of beans"],
  ["what it wrote, also when it succeeded", { file: "done", exitCode: 0 }, "done"],
  ["the end of its log when it wrote nothing", { file: "", log: line("one") + line("two") }, "one\ntwo\n"],
  ["the end of its log when there is no file", { log: line("one") }, "one\n"],
  ["nothing of the log when it succeeded", { file: "", log: line("one"), exitCode: 0 }, ""],
  ["nothing of the log when the policy is the file", { file: "", log: line("one"), policy: "File" }, ""],
  ["what the runtime says, where nobody else speaks", { file: "", runtimeSays: "exec failed" }, "exec failed"],
  ["the runtime's word first", { file: "out of beans", runtimeSays: "killed" }, "killed: out of beans"],
  ["the runtime's word before the log", { log: line("one"), runtimeSays: "killed" }, "killed: one\n"],
  ["nothing", {}, ""],
])("is %s", async (_name, input, expected) => {
  expect(await readMessage(input)).toBe(expected);
});

it("is the end of a longer file", async () => {
  const message = await readMessage({ file: `${"a".repeat(10)}${"b".repeat(4096)}` });
  expect(message).toBe("b".repeat(4096));
});

it("is no more than the last 80 lines of the log", async () => {
  const log = Array.from({ length: 100 }, (_, index) => line(`${index}`)).join("");
  expect((await readMessage({ log })).trim().split("\n")).toEqual(
    Array.from({ length: 80 }, (_, index) => `${index + 20}`),
  );
});

it("is no more than the last 2 KiB of the log", async () => {
  const log = Array.from({ length: 60 }, () => line("x".repeat(60))).join("");
  const message = await readMessage({ log });
  expect(Buffer.byteLength(message)).toBe(2048);
  expect(message.endsWith(`${"x".repeat(60)}\n`)).toBe(true);
});

it("joins what the runtime split", async () => {
  const log = `${line("begin").replace(" F ", " P ")}${line(" end")}`;
  expect(await readMessage({ log })).toBe("begin end\n");
});

it.each([
  ["its message file", FILE],
  ["its log", LOG],
  ["the directory of its log", "/logs/pod/main"],
  ["the directory of its pod's logs", "/logs/pod"],
])("is nothing of a host's file that it has put in the place of %s by a link", async (_what, replaced) => {
  const { files } = createFakeHost();
  const secret = line("root:$6$secret");
  for (const path of ["/host/shadow", "/host/0.log", "/host/main/0.log"]) files.put(path, secret);
  files.put(`${replaced.slice(0, replaced.lastIndexOf("/"))}/beside`, "");
  await files.link(replaced.endsWith("pod") || replaced.endsWith("main") ? "/host" : "/host/shadow", replaced);
  expect(await readMessageIn(files)).toBe("");
});
