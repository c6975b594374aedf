import { Command } from "commander";
import { expect, test } from "vitest";
import { AUTOSCALER_DEFAULTS } from "../control-plane/workloads/autoscaler/autoscaler-settings.ts";
import { type AutoscalerFlags, addAutoscalerFlags, readAutoscalerFlags } from "./autoscaler-flags.ts";

const PREFIX = "--horizontal-pod-autoscaler-";

function read(...flags: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addAutoscalerFlags(command);
  command.parse(
    flags.map((flag) => `${PREFIX}${flag}`),
    { from: "user" },
  );
  return readAutoscalerFlags(command.opts<AutoscalerFlags>());
}

test("without flags autoscalers are looked after as upstream does by default", () => {
  expect(read()).toEqual(AUTOSCALER_DEFAULTS);
});

test("each flag sets what it is named after", () => {
  const set = read(
    "sync-period=2s",
    "downscale-stabilization=1m",
    "tolerance=0.2",
    "cpu-initialization-period=3s",
    "initial-readiness-delay=4s",
  );
  expect(set).toEqual({
    syncPeriodMs: 2_000,
    downscaleStabilizationMs: 60_000,
    tolerance: 0.2,
    cpuInitializationMs: 3_000,
    initialReadinessDelayMs: 4_000,
  });
});

test.each([
  ["sync-period=0s", "must be a duration"],
  ["tolerance=-1", "must be a number"],
])("%s is refused", (flag, message) => {
  expect(() => read(flag)).toThrow(message);
});
