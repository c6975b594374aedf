import { expect, it } from "vitest";
import { createLineLog } from "./line-log.ts";
import { describeRunningPods, formatPodTable } from "./pod-table.ts";
import { formatTable } from "./text-table.ts";

it("pads columns to their widest cell and leaves no trailing blanks", () => {
  expect(
    formatTable(
      ["NAME", "X"],
      [
        ["a", "1"],
        ["longer-name", ""],
      ],
    ),
  ).toBe("NAME          X\na             1\nlonger-name");
});

it("says when there are no pods", () => {
  expect(formatPodTable([], 0, false)).toBe("No pods.");
});

it("sorts pods by namespace and name, and shows containers and images in the wide form", () => {
  const pod = (namespace: string, name: string) => ({
    metadata: { namespace, name },
    spec: { containers: [{ name: "main", image: "demo:1" }] },
    status: {
      phase: "Running",
      containerStatuses: [
        { name: "main", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } },
      ],
    },
  });
  const table = formatPodTable([pod("kube-system", "a"), pod("default", "b"), pod("default", "a")], 0, true);
  expect(table.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "CONTAINERS", "IMAGES"],
    ["default", "a", "1/1", "Running", "0", "<unknown>", "<none>", "main=running", "demo:1"],
    ["default", "b", "1/1", "Running", "0", "<unknown>", "<none>", "main=running", "demo:1"],
    ["kube-system", "a", "1/1", "Running", "0", "<unknown>", "<none>", "main=running", "demo:1"],
  ]);
});

it("logs a line a record, with fields that can be told apart", () => {
  const lines: string[] = [];
  const log = createLineLog(
    (line) => lines.push(line),
    () => 0,
  ).with({ pod: "default/web" });
  log.warn("it ended", { code: 1, reason: "no such file", error: new Error("why"), none: undefined });
  log.debug("not this");
  expect(lines).toEqual([
    '1970-01-01T00:00:00.000Z WARN  it ended pod=default/web code=1 reason="no such file" error="why"\n',
  ]);
});

it("speaks of one pod and of several", () => {
  expect([0, 1, 2].map(describeRunningPods)).toEqual(["0 pods run", "1 pod runs", "2 pods run"]);
});
