import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT, runModule, runNode } from "./run-node.ts";
import { TESTED_NODES } from "./tested-nodes.ts";

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "nodelet-built-package-"));
});
afterEach(async () => rm(temporary, { recursive: true }));

describe.each(TESTED_NODES)("nodelet/testing on %s", (program) => {
  const run = (source: string) => runModule(source, { program, environment: { TMPDIR: temporary } });

  it("lets a script end that was left in the middle of it", async () => {
    const { code, stderr } = await run(`
      import { startCluster } from "nodelet/testing";
      await startCluster();
      await startCluster();
      process.exit(7);
    `);
    expect({ code, stderr }).toEqual({ code: 7, stderr: "" });
    expect(await readdir(temporary)).toEqual([]);
  });

  it("leaves no handle behind when it cannot start", async () => {
    const { code, stdout, stderr } = await run(`
      import { startCluster } from "nodelet/testing";
      const { url, stop } = await startCluster();
      const port = Number(new URL(url).port);
      await startCluster({ port }).catch(({ code, message }) => console.log(code, message));
      await startCluster({ crds: ["no/such/file.yaml"] }).catch(({ code, message }) => console.log(code, message));
      await stop();
    `);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^listen-failed .*choose another port\nmanifest-unreadable .*no\/such\/file.yaml: ENOENT/);
    expect(await readdir(temporary)).toEqual([]);
  });

  it("runs the example's tests under node --test", async () => {
    const { code, stdout } = await runNode(["--import", "tsx", "--test", "examples/operator/operator.node-test.ts"], {
      program,
      environment: { TMPDIR: temporary },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/pass 4\n/) });
  });
});

it("runs in many processes at once", async () => {
  const source = `
    import { startCluster } from "nodelet/testing";
    const clusters = await Promise.all(Array.from({ length: 5 }, () => startCluster()));
    console.log(new Set(clusters.map(({ url }) => url)).size);
    await Promise.all(clusters.map(({ stop }) => stop()));
  `;
  const environment = { TMPDIR: temporary };
  const runs = await Promise.all(Array.from({ length: 4 }, () => runModule(source, { environment })));
  expect(runs).toMatchObject(runs.map(() => ({ code: 0, stdout: "5\n", stderr: "" })));
  expect(await readdir(temporary)).toEqual([]);
});

describe("the example", () => {
  it("passes its tests under vitest", async () => {
    const { code, stdout } = await runNode(["node_modules/vitest/vitest.mjs", "run", "--root=examples/operator"], {
      environment: { TMPDIR: temporary, NO_COLOR: "1" },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/Tests +6 passed/) });
  });

  it("type-checks against the package's declarations", async () => {
    const { code, stdout } = await runNode(["node_modules/typescript/bin/tsc", "--project", "examples/operator"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  });
});

describe("the declarations", () => {
  const check = (...flags: string[]) => {
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--types", "node"];
    return runNode(["node_modules/typescript/bin/tsc", "--ignoreConfig", ...options, ...flags]);
  };

  it("stand alone, without skipLibCheck", async () => {
    const { code, stdout } = await check("--target", "es2022", "dist/testing.d.ts");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  });

  it("refuse what no option is", async () => {
    const file = join(temporary, "wrong.ts");
    const declarations = JSON.stringify(join(ROOT, "dist/testing.js"));
    await writeFile(file, `import { startCluster } from ${declarations};\nawait startCluster({ ports: 1 });\n`);
    const { code, stdout } = await check("--target", "es2022", file);
    expect(code).not.toBe(0);
    expect(stdout).toContain("'ports' does not exist in type 'StartClusterOptions'");
  });
});
