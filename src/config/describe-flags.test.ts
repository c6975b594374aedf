import { expect, it } from "vitest";
import { describeFlags } from "./describe-flags.ts";
import { parseFlags } from "./parse-flags.ts";

function describeLine(...argv: string[]) {
  const parsed = parseFlags(argv);
  if (!parsed.ok) throw new Error(parsed.error);
  return describeFlags(parsed.values);
}

it("shows what was given, and what holds otherwise", () => {
  const flags = describeLine(
    ...["--node-labels=b=2,a=1", "--v=4", "--cluster-dns=10.0.0.1,10.0.0.2", "--node-ip=192.0.2.1"],
    ...["--sync-frequency=90s", "--system-reserved=cpu=1,memory=1Gi"],
  );
  expect(flags).toMatchObject({
    "cluster-dns": "[10.0.0.1,10.0.0.2]",
    "fail-swap-on": "true",
    "node-ip": "192.0.2.1",
    "node-labels": "a=1,b=2",
    "protect-kernel-defaults": "false",
    "root-dir": "/var/lib/kubelet",
    "sync-frequency": "1m30s",
    "system-reserved": "cpu=1,memory=1Gi",
    config: "",
    v: "4",
  });
});

it("keeps headers to itself, which may be credentials", () => {
  const flags = describeLine("--manifest-url-header=Authorization:Bearer x");
  expect(flags["manifest-url-header"]).toBe("CLASSIFIED");
  expect(JSON.stringify(flags)).not.toContain("Bearer");
});
