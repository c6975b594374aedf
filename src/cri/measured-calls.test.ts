import { expect, it } from "vitest";
import { operationTypeOf } from "./measured-calls.ts";

it.each([
  ["Version", "version"],
  ["RunPodSandbox", "run_podsandbox"],
  ["PodSandboxStatus", "podsandbox_status"],
  ["ListPodSandbox", "list_podsandbox"],
  ["ListPodSandboxStats", "list_podsandbox_stats"],
  ["CreateContainer", "create_container"],
  ["UpdateContainerResources", "update_container"],
  ["UpdateRuntimeConfig", "update_runtime_config"],
  ["ReopenContainerLog", "reopen_container_log"],
  ["ExecSync", "exec_sync"],
  ["ImageFsInfo", "image_fs_info"],
  ["PullImage", "pull_image"],
])("names %s as upstream does: %s", (rpc, operation) => {
  expect(operationTypeOf(rpc)).toBe(operation);
});
