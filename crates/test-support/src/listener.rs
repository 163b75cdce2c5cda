//! Servers on a thread of the test process.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Serves on a free port, on a thread of its own: the runtime of a test blocks while the test computes or waits for a process.
/// Returns the port, and a sender whose drop ends the thread.
///
/// # Panics
///
/// Panics when no port is free.
pub(crate) fn serve_on_thread<S: Future<Output = ()>>(
    serve: impl FnOnce(TcpListener) -> S + Send + 'static,
) -> (u16, oneshot::Sender<Infallible>) {
    let (stop, stopped) = oneshot::channel();
    let (sender, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
            let listener = listener.expect("a free port");
            let _ = sender.send(listener.local_addr().expect("an address").port());
            tokio::select! {
                () = serve(listener) => {}
                _ = stopped => {}
            }
        });
    });
    (port.recv().expect("the thread started"), stop)
}
