import { describe, expect, it } from "vitest";
import { readCommand } from "./fake-shell.ts";

const nap = (ms: number, interruptible = false) => ({ do: "sleep", ms, interruptible });
const print = (text: string, path?: string) => ({ do: "print", text, path });

describe("readCommand", () => {
  it.each([
    [["true"], [{ do: "status", code: 0 }]],
    [["/bin/false"], [{ do: "status", code: 1 }]],
    [["sleep", "1.5"], [nap(1_500)]],
    [["/usr/bin/sleep", "2m"], [nap(120_000)]],
    [["sleep", "infinity"], [nap(Number.POSITIVE_INFINITY)]],
    [["echo", "a", "b"], [print("a b")]],
    [["httpd", "-f"], [nap(Number.POSITIVE_INFINITY)]],
    [["sh"], [{ do: "status", code: 0 }]],
    [["nope"], undefined],
    [["/no/such/program"], undefined],
  ])("reads %j", (argv, steps) => {
    expect(readCommand(argv)).toEqual(steps);
  });
});

describe("a script", () => {
  it.each([
    ["exit 3", [{ do: "exit", code: 3 }]],
    ["sleep 1; exit 3", [nap(1_000), { do: "exit", code: 3 }]],
    ["sleep 1\nexit 3\n", [nap(1_000), { do: "exit", code: 3 }]],
    [
      "false; exit",
      [
        { do: "status", code: 1 },
        { do: "exit", code: undefined },
      ],
    ],
    [
      "true && echo yes || echo no",
      [
        { do: "status", code: 0 },
        { ...print("yes"), when: "success" },
        { ...print("no"), when: "failure" },
      ],
    ],
    ["echo 'a; b' \"c > d\"", [print("a; b c > d")]],
    ["echo why > /dev/termination-log", [print("why", "/dev/termination-log")]],
    ["sleep 9 & wait", [nap(9_000, true)]],
    ["exec sleep 9", [nap(9_000), { do: "exit", code: undefined }]],
    [
      "trap 'echo bye; exit 0' TERM; sleep 1",
      [{ do: "trap", steps: [print("bye"), { do: "exit", code: 0 }] }, nap(1_000)],
    ],
    ["while true; do echo hi; sleep 1; done", [{ do: "loop", steps: [print("hi"), nap(1_000)] }]],
    [
      "while :; do sleep 1; done; exit 2",
      [
        { do: "loop", steps: [nap(1_000)] },
        { do: "exit", code: 2 },
      ],
    ],
    ["while true\ndo\n  sleep 1\ndone", [{ do: "loop", steps: [nap(1_000)] }]],
    ["nope", [{ do: "status", code: 127 }]],
    ["", []],
  ])("reads %j", (script, steps) => {
    expect(readCommand(["sh", "-c", script])).toEqual(steps);
  });

  it.each(["echo 'open", "while false; do sleep 1; done", "echo a >> /b"])(
    "refuses what it does not know: %j",
    (script) => {
      expect(() => readCommand(["sh", "-c", script])).toThrow("the fake shell");
    },
  );
});
