//! The cancellation of work whose result nobody waits for any more.
//!
//! Searches look at it where they look at their budget. A search that was cancelled ends as one whose budget is spent:
//! whatever it returns is to be thrown away by whoever cancelled it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// What the work of this thread is cancelled by.
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

/// A flag that cancels work.
///
/// ```
/// use surefoot::Cancel;
/// use surefoot::{Change, Classifier, Complete, Feature, Features, Problem};
///
/// let income = Feature::new("income").limits(-9.0, 9.0).change(Change::Increase);
/// let problem = Problem::new(Features::new(vec![income])?, Classifier::linear(vec![1.0], 0.0, 0.5)?)?;
/// let cancel = Cancel::default();
/// cancel.cancel();
/// let outcome = cancel.watch(|| Complete::new(&problem)?.solve(&[-1.0]))?;
/// assert_eq!(outcome.status(), "undecided");
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the work, on whatever thread it is. It ends soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What the work of this thread is cancelled by, for parts of it that other threads do.
    pub fn current() -> Option<Self> {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Does work that this flag cancels, on this thread.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        with(Some(self.clone()), work)
    }
}

/// Puts back what the work of a thread was cancelled by before, also after a panic.
struct Restore(Option<Cancel>);

impl Drop for Restore {
    fn drop(&mut self) {
        let before = self.0.take();
        CURRENT.with(|current| *current.borrow_mut() = before);
    }
}

/// Does work that is cancelled by `cancel`, if by anything.
pub(crate) fn with<T>(cancel: Option<Cancel>, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.with(|current| current.replace(cancel));
    let _restore = Restore(before);
    work()
}

/// Whether the work of this thread was cancelled.
pub(crate) fn is_cancelled() -> bool {
    CURRENT.with(|current| current.borrow().as_ref().is_some_and(Cancel::is_cancelled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_cancelled_by_its_own_flag_alone() {
        let (outer, inner) = (Cancel::default(), Cancel::default());
        outer.watch(|| {
            inner.cancel();
            assert!(inner.watch(is_cancelled));
            assert!(!is_cancelled());
            let passed_on = Cancel::current();
            outer.cancel();
            assert!(is_cancelled());
            let elsewhere = std::thread::spawn(|| (is_cancelled(), with(passed_on, is_cancelled)));
            assert_eq!(elsewhere.join().unwrap(), (false, true));
        });
        assert!(!is_cancelled());
    }

    #[test]
    fn a_panic_leaves_no_flag_behind() {
        let cancel = Cancel::default();
        cancel.cancel();
        let ended = std::panic::catch_unwind(|| cancel.watch(|| panic!("a fault")));
        assert!(ended.is_err() && !is_cancelled());
    }
}
