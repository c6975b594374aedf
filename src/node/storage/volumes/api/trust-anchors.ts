/**
 * Makes one file of the certificates of trust bundles: each once, sorted, as PEM without headers or text between them
 * (pkg/kubelet/clustertrustbundle, `normalizeTrustAnchors`). Upstream shuffles them at each start, so that nobody relies on
 * their order; here they are sorted, so that a restart changes no volume.
 */
export function computeTrustAnchors(bundles: readonly string[]): string {
  const certificates = new Set(bundles.flatMap(findCertificates));
  return [...certificates].sort().map(formatCertificate).join("");
}

const BEGIN = "-----BEGIN ";
const END = "-----END ";
const HEADERS = /^(?:[^\n:]+:[^\n]*\n)+\r?\n/;

/** Finds the certificates' content in canonical base64. It takes one pass, whatever the text: blocks do not nest. */
function findCertificates(bundle: string): string[] {
  const [, ...blocks] = bundle.split(BEGIN);
  return blocks.flatMap((block) => {
    const labelEnd = block.indexOf("-----");
    const end = block.indexOf(`${END}${block.slice(0, labelEnd)}-----`);
    if (labelEnd < 0 || end < 0) return [];
    const lines = block.slice(labelEnd, end).replace(/^-----\r?\n/, "");
    const bytes = Buffer.from(lines.replace(HEADERS, ""), "base64");
    return bytes.length === 0 ? [] : [bytes.toString("base64")];
  });
}

function formatCertificate(base64: string): string {
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
