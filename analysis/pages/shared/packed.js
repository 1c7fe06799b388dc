// SPDX-License-Identifier: BSD-3-Clause
// Reads the data that analysis/pages/packed.py packed: a JSON object, and columns of numbers as typed arrays.
"use strict";

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text), bytes = new Uint8Array(plain.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

async function unpack(text) {
  const plain = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(plain).arrayBuffer();
  const begin = 4 + new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, begin - 4)));
  const kinds = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
  const column = {};
  for (const [name, [kind, at, size]] of Object.entries(head.columns))
    column[name] = new kinds[kind](buffer, begin + at, size);
  return [head, column];
}

// Returns how many elements of a sorted list are not above x.
function upTo(list, x) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= x) low = middle + 1; else high = middle;
  }
  return low;
}
