/**
 * Generates `src/cri/gen/` from `proto/`: plain objects with their wire codecs, and service definitions that
 * `src/cri/port.ts` derives its interfaces from. Needs no network. Run with `npm run gen`; the result is committed.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";

const OUT = "src/cri/gen";

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

const template = {
  version: "v2",
  inputs: [{ directory: "proto" }],
  plugins: [{ local: "node_modules/.bin/protoc-gen-ts_proto", out: OUT, opt: TS_PROTO_OPTIONS, include_imports: true }],
};

rmSync(OUT, { recursive: true, force: true });
execFileSync("node_modules/.bin/buf", ["generate", "--template", JSON.stringify(template)], { stdio: "inherit" });
