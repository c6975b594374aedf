import { expect, it } from "vitest";
import { explainNoCri } from "./explain-no-cri.ts";

const WATCHER = "failed to create CRI service: failed to create cni conf monitor for default";
const MEND =
  "; raise the machine's limits: sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288";

it.each([
  [
    "1.6",
    `level=warning msg="failed to load plugin io.containerd.grpc.v1.cri" error="${WATCHER}: failed to create fsnotify watcher: too many open files"`,
    `${WATCHER}: failed to create fsnotify watcher: too many open files${MEND}`,
  ],
  [
    "2.1",
    `level=warning msg="failed to load plugin" error="invalid plugin config: \\"systemd_cgroup\\" is gone" id=io.containerd.cri.v1.runtime`,
    `invalid plugin config: "systemd_cgroup" is gone`,
  ],
  ["no version that we know", "level=info msg=serving...", "the log does not say why"],
])("says why containerd has no CRI service, as %s logs it", (_, line, expected) => {
  const log = `level=info msg="loading plugin"\nlevel=warning msg="failed to load plugin io.containerd.tracing.v1" error="no"\n${line}\nlevel=info msg=serving...`;
  expect(explainNoCri(log)).toBe(`containerd runs without its CRI service: ${expected}`);
});
