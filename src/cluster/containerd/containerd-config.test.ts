import { describe, expect, it } from "vitest";
import { type ContainerdConfigOptions, computeContainerdConfig, parseContainerdVersion } from "./containerd-config.ts";
import { computeRuntimeLayout } from "./runtime-layout.ts";

const layout = computeRuntimeLayout("/var/lib/nodelet/containerd");

function configFor(major: number, minor: number, extra: Partial<ContainerdConfigOptions> = {}): string {
  return computeContainerdConfig(layout, {
    version: { major, minor, text: `${major}.${minor}.0` },
    sandboxImage: "localhost/nodelet/pause:1",
    cniBinDirectory: "/usr/lib/cni",
    snapshotter: "overlayfs",
    systemdCgroup: false,
    restrictOomScoreAdj: false,
    ...extra,
  });
}

describe("parseContainerdVersion", () => {
  it.each([
    ["containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3", 1, 6, "1.6.20~ds1"],
    ["containerd github.com/containerd/containerd v1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da", 1, 7, "1.7.27"],
    ["containerd github.com/containerd/containerd/v2 2.1.9+unknown ", 2, 1, "2.1.9+unknown"],
    ["containerd containerd.io v2.2.0 abc", 2, 2, "2.2.0"],
  ])("reads %s", (printed, major, minor, text) => {
    expect(parseContainerdVersion(printed)).toEqual({ major, minor, text });
  });

  it("refuses what another program prints", () => {
    expect(parseContainerdVersion("runc version 1.1.5+ds1")).toBeUndefined();
  });
});

describe("computeContainerdConfig", () => {
  it.each([
    [1, 6, `[plugins."io.containerd.grpc.v1.cri".registry]`],
    [2, 1, `[plugins."io.containerd.cri.v1.images".registry]`],
  ])("names the directory of registries to %i.%i where there is one", (major, minor, section) => {
    const wanted = `${section}\n  config_path = "/var/lib/nodelet/registries"\n`;
    expect(configFor(major, minor, { registries: "/var/lib/nodelet/registries" })).toContain(wanted);
    expect(configFor(major, minor)).not.toContain("config_path");
  });

  it("writes version 2 for 1.6, with everything beneath its directory", () => {
    expect(configFor(1, 6)).toMatchInlineSnapshot(`
      "# Written by nodelet at every start; changes are lost.
      version = 2
      root = "/var/lib/nodelet/containerd/root"
      state = "/var/lib/nodelet/containerd/state"
      disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.blockfile"]

      [grpc]
        address = "/var/lib/nodelet/containerd/containerd.sock"

      [plugins."io.containerd.internal.v1.opt"]
        path = "/var/lib/nodelet/containerd/opt"

      [plugins."io.containerd.gc.v1.scheduler"]
        deletion_threshold = 1
        schedule_delay = "500ms"

      [plugins."io.containerd.grpc.v1.cri"]
        sandbox_image = "localhost/nodelet/pause:1"
        stream_server_address = "127.0.0.1"
        stream_server_port = "0"
        restrict_oom_score_adj = false
        netns_mounts_under_state_dir = true

      [plugins."io.containerd.grpc.v1.cri".containerd]
        snapshotter = "overlayfs"
        default_runtime_name = "runc"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
        runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = "/var/lib/nodelet/containerd/state/runc"
        SystemdCgroup = false

      [plugins."io.containerd.grpc.v1.cri".cni]
        bin_dir = "/usr/lib/cni"
        conf_dir = "/var/lib/nodelet/containerd/cni"
      "
    `);
  });

  it("turns NRI off where there is one, since its socket is the machine's", () => {
    expect(configFor(1, 6)).not.toContain("nri");
    expect(configFor(1, 7)).toContain('[plugins."io.containerd.nri.v1.nri"]\n  disable = true');
  });

  it("writes version 3 for 2.x, with the sandbox image among the pinned ones", () => {
    const config = configFor(2, 0);
    expect(config).toContain("version = 3");
    expect(config).toContain('.pinned_images]\n  sandbox = "localhost/nodelet/pause:1"');
    expect(config).toContain('bin_dir = "/usr/lib/cni"');
    expect(config).not.toContain("sandbox_image");
  });

  it("names the CNI directories as a list from 2.1 on", () => {
    expect(configFor(2, 1)).toContain('bin_dirs = ["/usr/lib/cni"]');
  });

  it("keeps oom_score_adj up where the capability to lower it is missing", () => {
    for (const [major, minor] of [
      [1, 6],
      [2, 1],
    ] as const) {
      expect(configFor(major, minor, { systemdCgroup: false, restrictOomScoreAdj: true })).toContain(
        "restrict_oom_score_adj = true",
      );
    }
  });

  it("quotes a directory with TOML's special characters", () => {
    const odd = computeRuntimeLayout('/srv/"a\\b"');
    const version = { major: 1, minor: 6, text: "1.6.0" };
    const options = {
      version,
      sandboxImage: "x",
      cniBinDirectory: "/c",
      snapshotter: "native",
      systemdCgroup: false,
      restrictOomScoreAdj: false,
    } as const;
    expect(computeContainerdConfig(odd, options)).toContain('root = "/srv/\\"a\\\\b\\"/root"');
  });
});
