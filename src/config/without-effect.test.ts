import { expect, it } from "vitest";
import { FIELDS_WITHOUT_EFFECT, FLAGS_WITHOUT_EFFECT, GATES_WITHOUT_EFFECT } from "./without-effect.ts";

it("names fields by their paths, and says whether their effect is to come", () => {
  expect(FIELDS_WITHOUT_EFFECT).toContainEqual({ name: "hairpinMode", effect: "ignored" });
  expect(FIELDS_WITHOUT_EFFECT).toContainEqual({ name: "logging.options.text.splitStream", effect: "ignored" });
  expect(FIELDS_WITHOUT_EFFECT).toContainEqual({ name: "registryPullQPS", effect: "later" });
  const names = FIELDS_WITHOUT_EFFECT.map(({ name }) => name);
  expect(names).not.toContain("syncFrequency");
  expect(names).not.toContain("logging");
});

it("names the flags of the process, and not those of fields", () => {
  expect(FLAGS_WITHOUT_EFFECT).toContainEqual({ name: "lock-file", effect: "later" });
  const names = FLAGS_WITHOUT_EFFECT.map(({ name }) => name);
  for (const name of ["hairpin-mode", "kubeconfig"]) expect(names).not.toContain(name);
});

it("names the gates of today on which nothing depends", () => {
  expect(GATES_WITHOUT_EFFECT).toContain("EventedPLEG");
  for (const name of ["NodeLogQuery", "DevicePlugins"]) expect(GATES_WITHOUT_EFFECT).not.toContain(name);
});
