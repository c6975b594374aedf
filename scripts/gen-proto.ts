/**
 * Generates a `gen/` folder of plain objects with their wire codecs, and of service definitions, for each protocol of
 * `proto/`. Needs no network. Run with `npm run gen`; the result is committed.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";

/** Where what is made of which files of `proto/`. */
const PROTOCOLS = [
  { out: "src/cri/gen", paths: ["proto/cri-v1.proto", "proto/containerd"] },
  { out: "src/csi/gen", paths: ["proto/csi-v1.proto"] },
  { out: "src/device-plugin/gen", paths: ["proto/device-plugin-v1beta1.proto"] },
  { out: "src/dra/gen", paths: ["proto/dra-v1.proto", "proto/dra-health-v1alpha1.proto"] },
  { out: "src/pod-resources/gen", paths: ["proto/pod-resources-v1.proto", "proto/pod-resources-v1alpha1.proto"] },
  { out: "src/pods-api/gen", paths: ["proto/pods-v1alpha1.proto"] },
  { out: "src/plugin-registration/gen", paths: ["proto/plugin-registration-v1.proto"] },
];

/** See https://github.com/stephenh/ts-proto#supported-options. */
const TS_PROTO_OPTIONS = [
  "esModuleInterop=true",
  "importSuffix=.ts",
  // CRI counts nanoseconds since 1970, which a double cannot hold.
  "forceLong=bigint",
  "outputServices=generic-definitions",
  "outputJsonMethods=false",
  "enumsAsLiterals=true",
  // A number that we do not know stays that number.
  "unrecognizedEnum=false",
  // Every field is present: absent on the wire reads as the zero value, or undefined for a message.
  "useOptionals=none",
  "useExactTypes=false",
];

for (const { out, paths } of PROTOCOLS) {
  const template = {
    version: "v2",
    inputs: [{ directory: "proto", paths }],
    plugins: [{ local: "node_modules/.bin/protoc-gen-ts_proto", out, opt: TS_PROTO_OPTIONS, include_imports: true }],
  };
  rmSync(out, { recursive: true, force: true });
  execFileSync("node_modules/.bin/buf", ["generate", "--template", JSON.stringify(template)], { stdio: "inherit" });
}
