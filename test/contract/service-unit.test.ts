import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { computeUnitFile, SERVICE_NAME } from "../../src/cluster/service/unit-file.ts";
import { linuxPrograms } from "../../src/host/linux/system/linux-programs.ts";

it("the service's unit is one that systemd reads without a complaint", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-unit-"));
  try {
    const path = join(directory, SERVICE_NAME);
    const args = ["--manifests", "/srv/a b/%n $HOME"];
    await writeFile(path, computeUnitFile({ command: "up", args, node: process.execPath, entry: "/opt/nodelet.js" }));
    const verified = await linuxPrograms.run({
      path: "systemd-analyze",
      args: ["verify", "--man=no", path],
      environment: {},
      timeoutMs: 60_000,
    });
    if (verified.kind === "missing") {
      console.log("SKIPPED: systemd-analyze is not installed");
      context.skip();
    } else expect(verified).toMatchObject({ kind: "printed" });
  } finally {
    await rm(directory, { recursive: true });
  }
});
