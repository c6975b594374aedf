import { expect, it } from "vitest";
import { findCriFailure } from "./cri-failure.ts";

const failed = (plugin: string, error: string) =>
  `time="2026-12-01T07:50:41Z" level=info msg="Get image filesystem path"\ntime="2026-12-01T07:50:41Z" level=warning msg="failed to load plugin${plugin}" ${error}\ntime="2026-12-01T07:50:41Z" level=info msg="containerd successfully booted in 0.1s"\n`;
const QUEUES =
  "failed to create CRI service: failed to create cni conf monitor for default: failed to create fsnotify watcher: too many open files";

it.each([
  ["1.6", failed(" io.containerd.grpc.v1.cri", `error="${QUEUES}"`)],
  ["2.x", failed("", `error="${QUEUES}" id=io.containerd.grpc.v1.cri type=io.containerd.grpc.v1`)],
])("containerd %s without queues of notifications says how there are more", (_, log) => {
  const words = `containerd runs without its CRI service: ${QUEUES}; `;
  expect(findCriFailure(log)).toBe(`${words}allow more of them: sysctl fs.inotify.max_user_instances=512`);
});

it.each([
  [failed(" io.containerd.grpc.v1.cri", 'error="a \\"quoted\\" word"'), ': a "quoted" word'],
  [failed(" io.containerd.snapshotter.v1.zfs", 'error="no zfs"'), ""],
  ["", ""],
])("what %j says is said, and nothing is made up", (log, words) => {
  expect(findCriFailure(log)).toBe(`containerd runs without its CRI service${words}`);
});
