import { describe, expect, it } from "vitest";
import { readServiceWords } from "./service-words.ts";

describe("the words of a service", () => {
  it.each<[what: string, command: "up" | "kubelet", words: string[], meant: string[]]>([
    ["a path", "up", ["--manifests", "pods"], ["--manifests", "/root/pods"]],
    ["a path in one word", "up", ["--state-dir=../srv"], ["--state-dir=/srv"]],
    ["the file of settings", "up", ["--config=up.yaml"], ["--config=/root/up.yaml"]],
    ["a whole path", "up", ["--manifests", "/pods"], ["--manifests", "/pods"]],
    ["what is no path", "up", ["--api-port", "6444", "--no-dns"], ["--api-port", "6444", "--no-dns"]],
    ["standard output", "up", ["--audit-log-path=-"], ["--audit-log-path=-"]],
    ["a path for the node agent", "up", ["--kubelet-arg=--config-dir=d"], ["--kubelet-arg=--config-dir=/root/d"]],
    ["a path of the node agent", "kubelet", ["--config", "k.yaml", "--v=4"], ["--config", "/root/k.yaml", "--v=4"]],
    ["a name of the node agent", "kubelet", ["--hostname-override", "n"], ["--hostname-override", "n"]],
  ])("mean %s as it is where they are given", async (_what, command, words, meant) => {
    expect(await readServiceWords(command, words, "/root")).toEqual(meant);
  });

  it.each<[what: string, command: "up" | "kubelet", words: string[], why: RegExp]>([
    ["an unknown flag", "up", ["--no-such-flag"], /nodelet up would not start: unknown option '--no-such-flag'/],
    ["a bad value", "up", ["--api-port", "x"], /nodelet up would not start: .*whole number from 1 to 65535/],
    ["a word too many", "up", ["down"], /nodelet up would not start: too many arguments/],
    ["help", "up", ["--help"], /print something, and end/],
    ["the settings", "up", ["--print-config"], /--print-config prints something, and ends/],
    ["the background", "up", ["--detach"], /leave out --detach/],
    [
      "an unknown flag of the node agent",
      "up",
      ["--kubelet-arg=--bad=1"],
      /kubelet would not start: unknown flag: --bad/,
    ],
    ["an unknown flag of a kubelet", "kubelet", ["--bad"], /nodelet kubelet would not start: unknown flag: --bad/],
    ["a command of a kubelet", "kubelet", ["run"], /nodelet kubelet would not start: unknown command run/],
  ])("are refused with %s before anything is changed", async (_what, command, words, why) => {
    const message = expect.stringMatching(why);
    await expect(readServiceWords(command, words, "/root")).rejects.toMatchObject({ code: "bad-words", message });
  });
});
