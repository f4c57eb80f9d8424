// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A TCP proxy that does harm once, at the `at`th byte of all that the server sends (over all connections, in the order it comes):
//   cut        both sides are reset          truncate   the client sees an orderly end, whatever was promised
//   delay      300 ms of silence             duplicate  the byte, and up to 63 before it of the same chunk, come twice
// With no plan it only counts.
import { once } from 'node:events';
import net from 'node:net';

export async function cuttingProxy(port) {
    const all = new Set(), proxy = { plan: undefined, bytes: 0, done: false };
    const server = net.createServer({ allowHalfOpen: true }, client => {
        const upstream = net.connect({ port, host: '127.0.0.1' });
        let tail = Promise.resolve();
        for (const s of [client, upstream]) {
            all.add(s);
            s.on('error', () => {}).on('close', () => all.delete(s));
        }
        client.on('data', d => upstream.write(d)).on('end', () => upstream.end()).on('close', () => upstream.destroy());
        upstream.on('end', () => tail.then(() => client.end())).on('close', () => tail.then(() => client.end()));
        upstream.on('data', d => {
            const from = proxy.bytes, { plan } = proxy;
            proxy.bytes += d.length;
            const here = plan && !proxy.done && plan.at >= from && plan.at < proxy.bytes;
            if (!here) {
                tail = tail.then(() => { if (client.writable) client.write(d); });
                return;
            }
            proxy.done = true;
            const k = plan.at - from;
            tail = tail.then(async () => {
                client.write(d.subarray(0, k));
                if (plan.mode === 'cut') client.resetAndDestroy();
                else if (plan.mode === 'truncate') { client.end(); upstream.destroy(); }
                else if (plan.mode === 'delay') {
                    await new Promise(then => setTimeout(then, 300));
                    client.write(d.subarray(k));
                } else client.write(Buffer.concat([d.subarray(Math.max(0, k - 63), k + 1), d.subarray(k)]));
            });
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy.port = server.address().port;
    /** Old connections go, so that the next exchange begins like the first. */
    proxy.begin = plan => {
        for (const s of all) s.destroy();
        Object.assign(proxy, { plan, bytes: 0, done: false });
    };
    proxy.close = () => { proxy.begin(); server.close(); };
    return proxy;
}
