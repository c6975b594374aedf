import { describe, expect, it } from "vitest";
import {
  computeKubeletDropIn,
  computeKubeletProgram,
  computeKubeletUnit,
  findServiceCommand,
  isOwnFile,
} from "./kubelet-files.ts";

const PROGRAM = "/usr/local/bin/kubelet";
const PACKAGE = `# /usr/lib/systemd/system/kubelet.service
[Unit]
Description=kubelet
[Service]
ExecStart=/usr/bin/kubelet
`;
const KUBEADM = `
# /usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf
# Note: This dropin only works with kubeadm
[Service]
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_EXTRA_ARGS
`;

describe("the program kubelet", () => {
  it("is the node agent, with the arguments of whoever starts it", () => {
    const text = computeKubeletProgram({ node: "/opt/no de/node", entry: "/opt/it's/nodelet.js" });
    expect(text).toMatchInlineSnapshot(`
      "#!/bin/sh
      # Written by "nodelet install --as-kubelet"; "nodelet uninstall" removes it.
      UV_THREADPOOL_SIZE=16 MALLOC_ARENA_MAX=2 exec '/opt/no de/node' --max-semi-space-size=2 '/opt/it'\\''s/nodelet.js' kubelet "$@"
      "
    `);
    expect(isOwnFile(text)).toBe(true);
  });
});

describe("the service's command", () => {
  it.each([
    ["of a package", PACKAGE, { program: "/usr/bin/kubelet", commandLine: "" }],
    [
      "of kubeadm, whose drop-in counts",
      PACKAGE + KUBEADM,
      { program: "/usr/bin/kubelet", commandLine: "$KUBELET_KUBECONFIG_ARGS $KUBELET_EXTRA_ARGS" },
    ],
    [
      "of several lines, with a prefix of systemd's",
      '# /etc/systemd/system/kubelet.service\n[Service]\nExecStart = -/opt/kubelet --config=/k.yaml \\\n  --node-labels="a=b c"\n',
      { program: "/opt/kubelet", commandLine: '--config=/k.yaml    --node-labels="a=b c"' },
    ],
    [
      "before our drop-in",
      `${PACKAGE}${KUBEADM}\n# /etc/systemd/system/kubelet.service.d/90-nodelet.conf\n${computeKubeletDropIn(PROGRAM, "--old")}`,
      { program: "/usr/bin/kubelet", commandLine: "$KUBELET_KUBECONFIG_ARGS $KUBELET_EXTRA_ARGS" },
    ],
    [
      "of our unit",
      `# /etc/systemd/system/kubelet.service\n${computeKubeletUnit(PROGRAM)}`,
      {
        program: PROGRAM,
        commandLine: "$KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS",
      },
    ],
  ])("is that %s", (_, printed, command) => {
    expect(findServiceCommand(printed)).toEqual(command);
  });

  it.each([
    ["nothing", "# /etc/systemd/system/kubelet.service\n[Service]\nType=simple\n"],
    ["another program", PACKAGE.replace("bin/kubelet", "bin/k3s")],
    ["two programs", `${PACKAGE}ExecStart=/usr/bin/kubelet --twice\n`],
    ["a kubelet in a shell", PACKAGE.replace("=/usr/bin/kubelet", "=/bin/sh -c kubelet")],
  ])("is refused where it is %s", (_, printed) => {
    expect(() => findServiceCommand(printed)).toThrow(expect.objectContaining({ code: "odd-unit" }));
  });
});

describe("the drop-in", () => {
  it("gives the service another program and nothing else that would end pods or the agent", () => {
    expect(computeKubeletDropIn(PROGRAM, "$KUBELET_EXTRA_ARGS")).toMatchInlineSnapshot(`
      "# Written by "nodelet install --as-kubelet"; "nodelet uninstall" removes it.
      [Service]
      ExecStart=
      ExecStart=/usr/local/bin/kubelet $KUBELET_EXTRA_ARGS
      KillMode=process
      OOMScoreAdjust=-999
      LimitNOFILE=1048576
      "
    `);
  });
});
