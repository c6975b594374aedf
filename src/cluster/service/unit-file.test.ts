import { describe, expect, it } from "vitest";
import { commandOfUnit, computeUnitFile } from "./unit-file.ts";

const PROGRAM = { node: "/usr/bin/node", entry: "/opt/nodelet/dist/nodelet.js" };

describe("the service's unit", () => {
  it("starts the command when the network is there, and again however it ends", () => {
    const text = computeUnitFile({ ...PROGRAM, command: "up", args: ["--api-port", "6444"] });
    expect(text).toMatchInlineSnapshot(`
      "# Written by "nodelet install"; "nodelet uninstall" removes it. Changes belong into a drop-in: systemctl edit nodelet
      [Unit]
      Description=nodelet: a Kubernetes of one node
      Documentation=man:nodelet(1)
      Wants=network-online.target
      After=network-online.target dbus.socket
      StartLimitIntervalSec=0

      [Service]
      Type=notify
      ExecStart=/usr/bin/node --max-semi-space-size=2 /opt/nodelet/dist/nodelet.js up --api-port 6444
      Environment=UV_THREADPOOL_SIZE=16
      Environment=MALLOC_ARENA_MAX=2
      Restart=always
      RestartSec=2
      KillMode=process
      SyslogIdentifier=nodelet
      Delegate=yes
      OOMScoreAdjust=-999
      LimitNOFILE=1048576
      TasksMax=infinity
      TimeoutStartSec=1200
      TimeoutStopSec=120
      WatchdogSec=60

      [Install]
      WantedBy=multi-user.target
      "
    `);
  });

  it("starts a single executable without a Node.js before it", () => {
    const program = "/usr/local/bin/nodelet";
    const text = computeUnitFile({ node: program, entry: program, command: "up", args: [] });
    expect(text).toContain("\nExecStart=/usr/local/bin/nodelet up\n");
  });

  it("starts the node agent after the machine's runtime", () => {
    const text = computeUnitFile({ ...PROGRAM, command: "kubelet", args: ["--config=/etc/k.yaml"] });
    expect(text).toContain("After=network-online.target dbus.socket containerd.service crio.service\n");
    expect(text).toContain("/opt/nodelet/dist/nodelet.js kubelet --config=/etc/k.yaml\n");
  });

  it.each(["up", "kubelet"] as const)("is known as one of %s", (command) => {
    expect(commandOfUnit(computeUnitFile({ ...PROGRAM, command, args: [] }))).toBe(command);
  });

  it.each([
    ["a space", "/srv/my node", '"/srv/my node"'],
    ["what systemd would replace", "100%$HOME", '"100%%$$HOME"'],
    ["quotes and backslashes", 'a"b\\c', '"a\\"b\\\\c"'],
    ["a line break, which would begin another setting", "a\nUser=x", '"a\\nUser=x"'],
    ["nothing", "", '""'],
  ])("takes an argument with %s as it is", (_, argument, written) => {
    const text = computeUnitFile({ ...PROGRAM, command: "up", args: [argument] });
    expect(text).toContain(`nodelet.js up ${written}\n`);
  });
});
