import { parseImageReference } from "../../../src/api/image-reference.ts";
import { formatQuantity, parseQuantity } from "../../../src/api/quantity.ts";
import { parseCidr, parseIpAddress } from "../../../src/api/validation/ip-address.ts";
import { formatDuration, parseDuration } from "../../../src/config/duration.ts";
import { parseMountTable } from "../../../src/host/linux/mounts/mount-table.ts";
import { readDockerConfigJson, readDockercfg } from "../../../src/node/runtime/images/docker-config.ts";
import { promise, type Target } from "../target.ts";

/** Small texts within others: quantities, durations, images, addresses, credentials, the kernel's table of mounts. */
export const scalarsTarget: Target = {
  name: "scalars",
  runs: 16_384,
  seeds: [
    ...[
      "1500m",
      "1.5Gi",
      "1e3",
      "-0.1",
      "1h2m3.5s",
      "100ns",
      "registry.example:5000/a/b:tag@sha256:0123",
      "10.0.0.0/8",
    ],
    ...[
      "fd00::1/64",
      "::ffff:1.2.3.4",
      '{"auths":{"https://a.b/v1/":{"auth":"dTpw","email":"e"}}}',
      '{"a":{"username":"u"}}',
    ],
    "36 35 98:0 /a\\040b /mnt rw,noatime shared:1 - ext4 /dev/sda rw\n",
  ],
  words: [
    "Ki",
    "Mi",
    "E",
    "e",
    "m",
    "n",
    ".",
    "-",
    "+",
    "h",
    "µs",
    "@sha256:",
    ":",
    "/",
    "::",
    "\\040",
    " - ",
    '"auth":"',
  ],
  setUp: async () => ({
    run(input) {
      const text = input.toString();
      const quantity = parseQuantity(text);
      if (quantity !== undefined) {
        const printed = formatQuantity(quantity);
        const again = parseQuantity(printed);
        promise(again !== undefined && formatQuantity(again) === printed, `${text} is printed as ${printed}`);
      }
      const duration = parseDuration(text);
      if (duration !== undefined) {
        promise(
          parseDuration(formatDuration(duration)) !== undefined,
          `${text} is printed as ${formatDuration(duration)}`,
        );
      }
      parseImageReference(text);
      parseIpAddress(text);
      parseCidr(text);
      readDockerConfigJson(text);
      readDockercfg(text);
      parseMountTable(text);
    },
  }),
};
