import { expect, it } from "vitest";
import { programs } from "./rules/programs.ts";
import { findIn } from "./tree-of.ts";

const SPAWN = 'import { spawn } from "node:child_process";\n';

it.each([
  ["src/host/linux/x.ts", 'import { exec } from "node:child_process";', 2],
  ["src/cluster/x.ts", 'import { execSync } from "child_process";', 1],
  ["src/cluster/x.ts", 'import * as processes from "node:child_process";', 1],
  ["src/cluster/x.ts", `${SPAWN}spawn("ls", [], { shell: true });`, 1],
  ["src/cluster/x.ts", `${SPAWN}spawn("ls", [], { shell: "/bin/sh" });`, 1],
  ["test/e2e/x.ts", `${SPAWN}spawn("ls", [], { shell: true });`, 1],
  ["src/node/x.ts", SPAWN, 1],
  ["src/host/linux/system/start-process.ts", `${SPAWN}spawn("ls", ["-l"], { shell: false });`, 0],
  ["src/cli/x.ts", `${SPAWN}spawn("ls", ["-l"]);`, 0],
  ["src/node/x.ts", "const asked = { shell: true, exec };", 0],
])(
  "CVE-2023-3676, CVE-2023-3893, CVE-2023-3955, CVE-2023-5528: nothing is started through a shell",
  (path, text, count) => {
    expect(findIn(programs, { [path]: text })).toHaveLength(count);
  },
);
