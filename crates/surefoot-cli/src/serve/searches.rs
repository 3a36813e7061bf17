//! Searches, on threads of their own: a bounded queue, cancellation, and a limit on the time of each.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use surefoot::Cancel;
use tokio::sync::oneshot;

use super::fault::Fault;

/// A question that waits for a thread.
struct Task {
    number: u64,
    cancel: Cancel,
    is_started: Arc<AtomicBool>,
    work: Box<dyn FnOnce() + Send>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Task>,
    is_closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    capacity: usize,
    threads: usize,
    running: AtomicU64,
    next: AtomicU64,
    /// Questions whose work ended early since nobody waited any more, or for too long.
    cancelled: AtomicU64,
    /// Microseconds that a question took, on average over the last ones.
    usual: AtomicU64,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds after which a place in the queue is likely to be free.
    fn retry_after(&self, waiting: usize) -> u64 {
        let usual = Duration::from_micros(self.usual.load(Ordering::Relaxed));
        let until_free = usual.as_secs_f64() * (waiting as f64 / 2.0) / self.threads as f64;
        (until_free.ceil() as u64).clamp(1, 60)
    }
}

/// The threads of searches and the questions that wait for them.
#[derive(Clone)]
pub struct Searches(Arc<Shared>);

impl Searches {
    /// Starts the threads. At most `capacity` questions wait.
    ///
    /// # Errors
    /// If the system allows no more threads.
    pub fn start(threads: usize, capacity: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            capacity,
            threads,
            running: AtomicU64::new(0),
            next: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            usual: AtomicU64::new(0),
        });
        for number in 0..threads {
            let shared = shared.clone();
            thread::Builder::new().name(format!("search {number}")).spawn(move || {
                yield_to_connections();
                work(&shared);
            })?;
        }
        Ok(Self(shared))
    }

    /// Submits work. It is cancelled when the ticket is dropped.
    ///
    /// # Errors
    /// [`Fault::Busy`] if the queue is full, [`Fault::Stopping`] if the service is being stopped.
    pub fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Ticket<T>, Fault> {
        let cancel = Cancel::default();
        let is_started = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = oneshot::channel();
        let (cancelled, shared) = (cancel.clone(), self.0.clone());
        let work = Box::new(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            shared.cancelled.fetch_add(u64::from(cancelled.is_cancelled()), Ordering::Relaxed);
            // Nobody waits for the result of cancelled work.
            let _ = sender.send(done.ok());
        });
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let task = Task { number, cancel: cancel.clone(), is_started: is_started.clone(), work };
        let mut queue = self.0.queue();
        if queue.is_closed {
            return Err(Fault::Stopping);
        }
        if queue.waiting.len() >= self.0.capacity {
            return Err(Fault::Busy(self.0.retry_after(queue.waiting.len())));
        }
        queue.waiting.push_back(task);
        drop(queue);
        self.0.changed.notify_one();
        let held = Held { searches: self.clone(), number, cancel };
        Ok(Ticket { receiver, is_started, held })
    }

    /// How many questions wait.
    pub fn waiting(&self) -> usize {
        self.0.queue().waiting.len()
    }

    /// How many are being answered.
    pub fn running(&self) -> u64 {
        self.0.running.load(Ordering::Relaxed)
    }

    /// How many ended early.
    pub fn cancelled(&self) -> u64 {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Whether a question would have to be refused.
    pub fn is_full(&self) -> bool {
        self.waiting() >= self.0.capacity
    }

    /// Refuses further questions, and answers those that wait.
    pub fn close(&self) {
        self.0.queue().is_closed = true;
        self.0.changed.notify_all();
    }
}

/// Work that was submitted; dropped, it is cancelled.
pub struct Held {
    searches: Searches,
    number: u64,
    cancel: Cancel,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.searches.0.queue().waiting.retain(|task| task.number != self.number);
    }
}

/// The result of submitted work, once it is done.
pub struct Ticket<T> {
    receiver: oneshot::Receiver<Option<T>>,
    is_started: Arc<AtomicBool>,
    held: Held,
}

impl<T> Ticket<T> {
    /// Waits for the result.
    ///
    /// # Errors
    /// [`Fault::TimeLimit`] if the work takes longer than `seconds` or, if it was not begun by then, [`Fault::Busy`];
    /// [`Fault::Internal`] if it panicked. The work is then cancelled.
    pub async fn result(self, seconds: f64) -> Result<T, Fault> {
        let Self { receiver, is_started, held } = self;
        match tokio::time::timeout(Duration::from_secs_f64(seconds), receiver).await {
            Ok(Ok(Some(done))) => Ok(done),
            Ok(_) => Err(Fault::Internal),
            Err(_) if is_started.load(Ordering::Relaxed) => Err(Fault::TimeLimit(seconds)),
            Err(_) => Err(Fault::Busy(held.searches.0.retry_after(held.searches.waiting()))),
        }
    }
}

/// Answers questions until the queue is closed and empty.
fn work(shared: &Shared) {
    loop {
        let mut queue = shared.queue();
        let task = loop {
            match queue.waiting.pop_front() {
                Some(task) => break task,
                None if queue.is_closed => return,
                None => queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(queue);
        if task.cancel.is_cancelled() {
            continue;
        }
        task.is_started.store(true, Ordering::Relaxed);
        shared.running.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        task.cancel.watch(task.work);
        let took = start.elapsed().as_micros() as u64;
        let usual = shared.usual.load(Ordering::Relaxed);
        shared.usual.store(usual - usual / 8 + took / 8, Ordering::Relaxed);
        shared.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Gives the threads that answer connections the precedence over this one.
pub fn yield_to_connections() {
    #[cfg(target_os = "linux")]
    {
        let thread = rustix::thread::gettid();
        // Without it health checks may take a little longer.
        let _ = rustix::process::setpriority_process(Some(thread), NICE);
    }
}

/// By how much searches are nicer than connections: enough for a connection to run as soon as it is ready.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    /// Occupies a thread until the sender is dropped.
    fn occupied(searches: &Searches) -> (mpsc::Sender<()>, Ticket<()>) {
        let (release, wait) = mpsc::channel::<()>();
        let (started, begun) = mpsc::channel();
        let ticket = searches.submit(move || {
            started.send(()).unwrap();
            let _ = wait.recv();
        });
        begun.recv().unwrap();
        (release, ticket.unwrap())
    }

    #[test]
    fn a_full_queue_refuses_and_those_who_leave_make_room() {
        let searches = Searches::start(1, 1).unwrap();
        let (release, ticket) = occupied(&searches);
        let waiting = searches.submit(|| 1).unwrap();
        assert!(matches!(searches.submit(|| 2), Err(Fault::Busy(1))));
        drop(waiting);
        let waiting = searches.submit(|| 3).unwrap();
        drop(release);
        assert_eq!(run(ticket.result(60.0)), Ok(()));
        assert_eq!(run(waiting.result(60.0)), Ok(3));
    }

    #[test]
    fn work_that_takes_too_long_is_cancelled() {
        let searches = Searches::start(1, 1).unwrap();
        let (told, heard) = mpsc::channel();
        let ticket = searches.submit(move || {
            let problem = endless();
            let outcome = surefoot::Complete::new(&problem).unwrap();
            let budget = surefoot::Budget { evaluations: usize::MAX };
            told.send(()).unwrap();
            outcome.with_budget(budget).unwrap().solve(&[-1.0; 6]).map(drop)
        });
        heard.recv().unwrap();
        assert_eq!(run(ticket.unwrap().result(0.05)), Err(Fault::TimeLimit(0.05)));
        // The thread is free again.
        assert_eq!(run(searches.submit(|| 7).unwrap().result(60.0)), Ok(7));
    }

    /// A problem whose search does not end by itself within hours.
    fn endless() -> surefoot::Problem {
        use rand::SeedableRng;
        use surefoot::{Activation, Change, Classifier, Feature, Features, Norm, Problem};
        let feature = |i: usize| Feature::new(format!("x{i}")).limits(-9.0, 9.0).change(Change::Any);
        let features = Features::new((0..6).map(feature).collect()).unwrap();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let network = surefoot_random::network(&mut random, &[6, 30, 30, 1], Activation::Tanh, 1.5);
        let problem = Problem::new(features, Classifier::network(network, 0.999).unwrap()).unwrap();
        problem.with_uncertainty(Norm::L2, 0.5).unwrap()
    }

    #[test]
    fn a_fault_of_one_question_harms_no_other() {
        let searches = Searches::start(1, 8).unwrap();
        let faulty = searches.submit(|| panic!("a fault")).unwrap();
        assert_eq!(run(faulty.result(60.0)), Err::<(), _>(Fault::Internal));
        assert_eq!(run(searches.submit(|| 1).unwrap().result(60.0)), Ok(1));
        searches.close();
        assert!(matches!(searches.submit(|| 2), Err(Fault::Stopping)));
    }
}
